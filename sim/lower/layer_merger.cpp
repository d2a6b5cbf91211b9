#include "sim/lower/layer_merger.h"

#include <algorithm>
#include <utility>

#include "sim/lower/per_channel.h"

namespace accsim::sim {
namespace {

/// The layer's product when it ends in one, and nothing has been merged into it that goes on with
/// rounded results.
GemmOp* unmerged_product(Layer* l) {
  return l && !l->relu && !l->residual.is_of_node() && l->function.empty() ? last_product(l)
                                                                           : nullptr;
}

}  // namespace

bool LayerMerger::merge_node(const Node& node, const OpRow& row, Layer& l) {
  Layer* into = nullptr;
  if (row.fusion == Fusion::affine) into = merge_affine(node);
  if (row.fusion == Fusion::bias) {
    into = merge_bias(node);
    if (!into) into = merge_residual(node);
  }
  if (!into) into = merge_channels(node);
  if (row.fusion == Fusion::clip) into = merge_clip(node);
  if (row.fate == Fate::view) into = merge_rows(node);
  if (!into && passes_on(node)) into = merge_before_clip(node);
  if (!into) return false;
  l.fate = Fate::folded;
  l.merged_into = layers_.index_of(*into);
  layers_.set_layer_output(*into, node.outputs[0]);
  return true;
}

bool LayerMerger::is_constant_input(const Node& node, size_t port) const {
  return port < node.inputs.size() && node.inputs[port] != kNoTensor &&
         graph_.tensor(node.inputs[port]).constant;
}

Layer* LayerMerger::merge_affine(const Node& node) {
  Layer* l = layers_.sole_producer(node, 0);
  GemmOp* gemm = unmerged_product(l);
  if (!gemm || node.outputs.size() > 1) return nullptr;
  const Node& producer = layers_.node(l->node);
  const OpRow* product_row = find_op(producer);
  // Its channels are dim 1, the columns of a matrix product the last.
  if (!product_row || product_row->weights == WeightLayout::kn) return nullptr;
  if (!is_constant_input(producer, gemm->b_port.index())) return nullptr;
  for (size_t port = 1; port < node.inputs.size(); ++port)
    if (!is_constant_input(node, port)) return nullptr;
  give_bias(*gemm);
  return l;
}

Layer* LayerMerger::merge_bias(const Node& node) {
  for (const size_t port : {size_t{0}, size_t{1}}) {
    Layer* l = layers_.sole_producer(node, port);
    GemmOp* gemm = unmerged_product(l);
    if (!gemm || gemm->bias_port.is_of_node() || !is_constant_input(node, 1 - port)) continue;
    if (graph_.tensor(node.outputs[0]).dims != graph_.tensor(node.inputs[port]).dims) continue;
    if (!one_a_channel(node.inputs[1 - port], *l, *gemm)) continue;
    give_bias(*gemm);
    return l;
  }
  return nullptr;
}

Layer* LayerMerger::merge_channels(const Node& node) {
  const size_t port = is_constant_input(node, 0) ? 1 : 0;
  Layer* l = layers_.sole_producer(node, port);
  if (!unmerged_product(l) || !scales_channels(node, port, *l)) return nullptr;
  give_bias(*last_product(l));
  return l;
}

bool LayerMerger::scales_channels(const Node& node, size_t port, Layer& l) const {
  if (!is_arithmetic(node) || !is_affine(graph_, node) || !is_constant_input(node, 1 - port))
    return false;
  const Dims& to = graph_.tensor(node.outputs[0]).dims;
  if (to != graph_.tensor(node.inputs[port]).dims) return false;
  const Node& producer = layers_.node(l.node);
  const GemmOp& gemm = *last_product(&l);
  const OpRow* row = find_op(producer);
  return row && row->weights != WeightLayout::unknown && row->weights != WeightLayout::gain &&
         is_constant_input(producer, gemm.b_port.index()) &&
         is_per_channel(graph_.tensor(node.inputs[1 - port]).dims, to, producer, gemm);
}

bool LayerMerger::one_a_channel(TensorId id, const Layer& l, const GemmOp& gemm) const {
  return is_per_channel(graph_.tensor(id).dims, graph_.tensor(l.outputs[0]).dims,
                        layers_.node(l.node), gemm);
}

Layer* LayerMerger::merge_residual(const Node& node) {
  Layer* best = nullptr;
  size_t best_port = 0;
  for (const size_t port : {size_t{0}, size_t{1}}) {
    Layer* l = layers_.sole_producer(node, port);
    if (!last_product(l) || l->residual.is_of_node() || !can_be_added(node, port, *l)) continue;
    if (best && best->node > l->node) continue;
    best = l;
    best_port = port;
  }
  if (!best) return nullptr;
  best->residual = static_cast<int>(best->inputs.size());
  best->inputs.push_back(node.inputs[1 - best_port]);
  return best;
}

bool LayerMerger::can_be_added(const Node& node, size_t port, const Layer& l) const {
  const TensorId id = node.inputs[1 - port];
  if (node.inputs.size() != 2 || id == kNoTensor || id == node.inputs[port]) return false;
  const Tensor &sum = graph_.tensor(node.outputs[0]), &other = graph_.tensor(id);
  const Tensor& mine = graph_.tensor(node.inputs[port]);
  if (other.constant || !is_float(sum.dtype) || other.dtype != sum.dtype) return false;
  if (other.dims != sum.dims || mine.dims != sum.dims) return false;
  const Layer* owner = layers_.owner_of(id);               // of nodes that it has taken in, too
  return (owner ? owner->node : other.producer) < l.node;  // kNoNode, of inputs, is less than all
}

Layer* LayerMerger::merge_rows(const Node& node) {
  Layer* l = layers_.sole_producer(node, 0);
  const GemmOp* gemm = unmerged_product(l);
  if (!gemm || l->work.size() != 1 || gemm->batch != 1 || node.outputs.size() != 1) return nullptr;
  const OpRow* row = find_op(layers_.node(l->node));
  const Dims &from = graph_.tensor(node.inputs[0]).dims, &to = graph_.tensor(node.outputs[0]).dims;
  if (!row || row->weights == WeightLayout::oihw || from.empty() || to.empty()) return nullptr;
  if (from.back() != gemm->n() || to.back() != gemm->n()) return nullptr;
  return elements(from) == elements(to) && joins_product(node.outputs[0], *l) ? l : nullptr;
}

bool LayerMerger::joins_product(TensorId id, Layer& l) const {
  const std::vector<NodeId>& readers = layers_.readers_of(id);
  if (layers_.is_output(id) || readers.empty()) return false;
  const UnaryFunction* function = functions_.function_of(readers[0]);
  if (function && function->of == id)
    return std::ranges::all_of(
        readers, [&](NodeId reader) { return std::ranges::count(function->nodes, reader) > 0; });
  const Node& sum = layers_.node(readers[0]);
  const OpRow* row = find_op(sum);
  if (readers.size() != 1 || !row || sum.folded) return false;
  const size_t port = sum.inputs[0] == id ? 0 : 1;
  if (scales_channels(sum, port, l)) return true;
  if (row->fusion != Fusion::bias) return false;
  if (!is_constant_input(sum, 1 - port)) return can_be_added(sum, port, l);
  return last_product(&l)->bias_port < 0 &&
         one_a_channel(sum.inputs[1 - port], l, *last_product(&l));
}

Layer* LayerMerger::merge_before_clip(const Node& node) {
  Layer* l = layers_.sole_producer(node, 0);
  return l && l->fate == Fate::vector && leads_to_clip(node.outputs[0]) ? l : nullptr;
}

bool LayerMerger::leads_to_clip(TensorId id) {
  std::vector<TensorId> passed;
  bool found = false;
  while (id != kNoTensor) {
    if (const auto known = leads_to_clip_.find(id); known != leads_to_clip_.end()) {
      found = known->second;
      break;
    }
    passed.push_back(id);
    if (layers_.is_output(id) || layers_.readers_of(id).size() != 1) break;
    const Node& reader = layers_.node(layers_.readers_of(id)[0]);
    if (!passes_on(reader)) {
      const OpRow* row = find_op(reader);
      found = row && row->fusion == Fusion::clip && !reader.folded;
      break;
    }
    id = reader.outputs[0];
  }
  for (const TensorId each : passed) leads_to_clip_[each] = found;
  return found;
}

Layer* LayerMerger::merge_clip(const Node& node) {
  Layer* l = layers_.sole_producer(node, 0);
  if (!l || l->work.empty()) return nullptr;
  for (size_t port = 1; port < node.inputs.size(); ++port)
    if (node.inputs[port] != kNoTensor && !is_constant_input(node, port)) return nullptr;
  if (last_product(l)) {
    if (!clips_at_zero(graph_, node) || (!l->function.empty() && !l->residual.is_of_node()))
      return nullptr;
    bool& clips = l->residual.is_of_node() ? l->clips_sum : l->relu;
    return std::exchange(clips, true) ? nullptr : l;
  }
  auto* vector = std::get_if<VectorOp>(&l->work.back());
  if (!vector || l->fate != Fate::vector) return nullptr;
  (*vector)[VectorClass::elementwise] += elements(graph_.tensor(node.outputs[0]).dims);
  return l;
}

}  // namespace accsim::sim
