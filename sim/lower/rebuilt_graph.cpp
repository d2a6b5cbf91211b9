#include "sim/lower/rebuilt_graph.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "sim/base/check.h"

namespace accsim::sim {
namespace {

/// Ids stay as they are: of what no node writes any more nothing is left but the name.
void leave_out(Tensor& t) {
  t.origin = Tensor::Origin::initializer;
  t.dims = {0};
  t.constant = true;
  t.value = nullptr;
  t.quantisation.reset();
}

}  // namespace

RebuiltGraph::RebuiltGraph(const Graph& graph) : before_(graph), out_(graph) { out_.nodes.clear(); }

TensorId RebuiltGraph::add_tensor(const Tensor& like, std::string name, Dims dims) {
  Tensor t;
  t.name = std::move(name);
  t.dtype = like.dtype;
  t.dims = std::move(dims);
  out_.tensors.push_back(std::move(t));
  return static_cast<TensorId>(out_.tensors.size()) - 1;
}

TensorId RebuiltGraph::add_constant(std::string name, DType dtype, Dims dims, ConstData value) {
  Tensor t;
  t.name = std::move(name);
  t.origin = Tensor::Origin::initializer;
  t.dtype = dtype;
  t.dims = std::move(dims);
  t.constant = true;
  t.value = std::make_shared<const ConstData>(std::move(value));
  out_.tensors.push_back(std::move(t));
  return static_cast<TensorId>(out_.tensors.size()) - 1;
}

void RebuiltGraph::add_node(const Node& like, std::string name, std::vector<TensorId> inputs,
                            std::vector<TensorId> outputs) {
  Node n = like;
  n.part_of = like.name.empty() ? node(part_of_).name : like.name;
  n.name = std::move(name);
  n.inputs = std::move(inputs);
  n.outputs = std::move(outputs);
  n.folded = std::ranges::all_of(n.inputs, [&](TensorId id) { return out_.tensor(id).constant; });
  for (const TensorId id : n.outputs) out_.tensor(id).constant = n.folded;
  out_.nodes.push_back(std::move(n));
}

Node RebuiltGraph::new_operator(const char* op, int64_t opset,
                                std::vector<Attribute> attributes) const {
  Node out;
  out.op_type = op;
  out.opset = opset;
  out.attributes = std::move(attributes);
  out.module = node(part_of_).module;
  return out;
}

TensorId RebuiltGraph::add_operator(const char* op, int64_t opset, const std::string& name,
                                    std::vector<TensorId> inputs, Dims result,
                                    std::vector<Attribute> attributes) {
  const TensorId out = add_tensor(tensor(inputs[0]), name + "_output", std::move(result));
  add_node(new_operator(op, opset, std::move(attributes)), name, std::move(inputs), {out});
  return out;
}

void RebuiltGraph::drop_unread() {
  const auto before = consumers_by_tensor(before_);
  std::vector<bool> read(out_.tensors.size(), false);
  for (size_t t = 0; t < before.size(); ++t)
    read[t] = before_.tensors[t].producer != kNoNode && before[t].empty();
  for (const TensorId id : out_.outputs) read[static_cast<size_t>(id)] = true;
  std::vector<Node> kept;
  for (size_t i = out_.nodes.size(); i-- > 0;) {
    const auto is_read = [&](TensorId id) {
      return id != kNoTensor && read[static_cast<size_t>(id)];
    };
    if (std::ranges::none_of(out_.nodes[i].outputs, is_read)) continue;
    for (const TensorId id : out_.nodes[i].inputs)
      if (id != kNoTensor) read[static_cast<size_t>(id)] = true;
    kept.push_back(std::move(out_.nodes[i]));
  }
  std::ranges::reverse(kept);
  out_.nodes = std::move(kept);
}

Graph RebuiltGraph::take_graph() {
  drop_unread();
  for (Tensor& t : out_.tensors)
    if (t.origin == Tensor::Origin::node) t.producer = kNoNode;
  for (size_t i = 0; i < out_.nodes.size(); ++i)
    for (const TensorId id : out_.nodes[i].outputs)
      if (id != kNoTensor) out_.tensor(id).producer = static_cast<NodeId>(i);
  const auto readers = consumers_by_tensor(out_);
  for (size_t i = 0; i < out_.tensors.size(); ++i) {
    Tensor& t = out_.tensors[i];
    if (t.origin != Tensor::Origin::node || t.producer != kNoNode) continue;
    check(readers[i].empty(), "the graph reads what nothing writes: " + t.name);
    leave_out(t);
  }
  return std::move(out_);
}

}  // namespace accsim::sim
