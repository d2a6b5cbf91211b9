#include "sim/lower/layers_so_far.h"

#include <utility>

#include "sim/lower/logarithms.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {

LayersSoFar::LayersSoFar(const Graph& graph)
    : graph_(graph), owner_(graph.tensors.size(), -1), is_output_(graph.tensors.size(), false) {
  out_.readers = consumers_by_tensor(graph);
  logarithms_ = softmax_logarithms(graph, out_.readers);
  out_.layers.reserve(graph.nodes.size());
  for (TensorId id : graph.outputs) is_output_[static_cast<size_t>(id)] = true;
}

void LayersSoFar::add_layer(Layer l) {
  const auto at = static_cast<int>(layer_count());
  if (!l.work.empty())
    for (TensorId id : l.outputs)
      if (id != kNoTensor) owner_[static_cast<size_t>(id)] = at;
  out_.layers.push_back(std::move(l));
}

void LayersSoFar::set_layer_output(Layer& l, TensorId id) {
  l.outputs[0] = id;
  owner_[static_cast<size_t>(id)] = index_of(l);
}

Layer* LayersSoFar::owner_of(TensorId id) {
  const int at = owner_[static_cast<size_t>(id)];
  return at < 0 ? nullptr : &out_.layers[static_cast<size_t>(at)];
}

Layer* LayersSoFar::sole_producer(const Node& node, size_t port) {
  if (port >= node.inputs.size() || node.inputs[port] == kNoTensor) return nullptr;
  const TensorId id = node.inputs[port];
  Layer* l = owner_of(id);
  if (!l || is_output(id) || readers_of(id).size() != 1) return nullptr;
  if (logarithms_.contains(l->node)) return nullptr;  // a softmax' second output as it is
  return l->outputs[0] == id ? l : nullptr;
}

GemmOp* last_product(Layer* l) {
  return l && !l->work.empty() ? std::get_if<GemmOp>(&l->work.back()) : nullptr;
}

void give_bias(GemmOp& gemm) {
  if (!gemm.bias_port.is_of_node()) gemm.bias_port = gemm.b_port;
}

bool passes_on(const Node& node) {
  const OpRow* row = find_op(node);
  return row && row->pointwise && row->fate == Fate::view && !node.folded;
}

}  // namespace accsim::sim
