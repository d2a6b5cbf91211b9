#include "sim/lower/function_joiner.h"

#include <algorithm>
#include <utility>

#include "sim/operators/op_table.h"

namespace accsim::sim {

FunctionJoiner::FunctionJoiner(LayersSoFar& layers, std::vector<UnaryFunction> functions)
    : graph_(layers.graph()), layers_(layers), functions_(std::move(functions)) {
  for (UnaryFunction& f : functions_)
    for (const NodeId id : f.nodes) function_of_[id] = &f;
}

const UnaryFunction* FunctionJoiner::function_of(NodeId id) const {
  const auto found = function_of_.find(id);
  return found == function_of_.end() ? nullptr : found->second;
}

bool FunctionJoiner::join_node(NodeId id, Layer& l) {
  const auto found = function_of_.find(id);
  if (found == function_of_.end()) return false;
  UnaryFunction& f = *found->second;
  const bool last = id == f.nodes.back();
  if (is_only_a_clip(f) && !product_of(f)) return false;
  if (!last && leave_clip(id, f)) return false;
  Layer* product = last ? product_of(f) : nullptr;
  l.in_function = !last || product;
  l.fate = l.in_function ? Fate::folded : Fate::vector;
  if (!last) return true;
  const int64_t at = product ? layers_.index_of(*product) : layers_.layer_count();
  for (const NodeId node : f.nodes) {
    Layer& part = node == id ? l : layers_.layer_at(static_cast<size_t>(node));
    if (part.in_function) part.merged_into = static_cast<int>(at);
  }
  if (product)
    append_function(*product, f, l.outputs[0]);
  else
    be_function(l, f);
  return true;
}

bool FunctionJoiner::is_only_a_clip(const UnaryFunction& f) {
  const auto [at, fresh] = only_a_clip_.try_emplace(&f);
  if (fresh) at->second = finds_only_a_clip(f);
  return at->second;
}

bool FunctionJoiner::finds_only_a_clip(const UnaryFunction& f) const {
  const auto before = std::span(f.nodes).first(f.nodes.size() - 1);
  return find_op(layers_.node(f.nodes.back()))->fusion == Fusion::clip &&
         std::ranges::all_of(before, [&](NodeId id) { return passes_on(layers_.node(id)); });
}

bool FunctionJoiner::leave_clip(NodeId id, UnaryFunction& f) {
  const Node& node = layers_.node(id);
  Layer* l = layers_.sole_producer(node, 0);
  if (id != f.nodes.front() || !l || !clips_at_zero(graph_, node)) return false;
  if (!last_product(l) || !l->function.empty() ||
      (l->residual.is_of_node() ? l->clips_sum : l->relu))
    return false;
  UnaryFunction rest = f;
  rest.nodes.erase(rest.nodes.begin());
  rest.of = node.outputs[0];
  rest.work = work_of(graph_, rest);
  if (rest.work.ops == VectorOp{}.ops) return false;
  f = std::move(rest);
  only_a_clip_.erase(&f);
  return true;
}

Layer* FunctionJoiner::product_of(const UnaryFunction& f) {
  Layer* l = layers_.owner_of(f.of);
  if (!l || layers_.is_output(f.of)) return nullptr;
  const GemmOp* gemm = last_product(l);
  if (!gemm || l->work.size() > 1 || l->residual.is_of_node() || !l->function.empty())
    return nullptr;
  if (l->outputs[0] != f.of) return nullptr;
  if (gemm->batch * gemm->m() * gemm->n() != elements(graph_.tensor(f.of).dims)) return nullptr;
  const bool alone = std::ranges::all_of(layers_.readers_of(f.of), [&](NodeId reader) {
    return std::ranges::find(f.nodes, reader) != f.nodes.end();
  });
  return alone ? l : nullptr;
}

bool FunctionJoiner::all_affine(std::span<const NodeId> nodes) const {
  return std::ranges::all_of(nodes,
                             [this](NodeId id) { return is_affine(graph_, layers_.node(id)); });
}

void FunctionJoiner::append_function(Layer& l, UnaryFunction f, TensorId result) {
  const Node& last = layers_.node(f.nodes.back());
  f.affine = !l.relu && all_affine(f.nodes);
  const auto before = std::span(f.nodes).first(f.nodes.size() - 1);
  if (!l.relu && !before.empty() && all_affine(before) && clips_at_zero(graph_, last)) {
    f.affine = l.relu = true;
    f.nodes.pop_back();
    f.work = work_of(graph_, f);
  }
  auto& gemm = std::get<GemmOp>(l.work.back());
  const TensorId b = l.inputs[gemm.b_port.index()];
  if (f.affine && graph_.tensor(b).constant) give_bias(gemm);
  l.function = std::move(f);
  layers_.set_layer_output(l, result);
}

void FunctionJoiner::be_function(Layer& l, const UnaryFunction& f) {
  l.inputs = {f.of};
  l.work = {f.work};
  l.function = f;
  l.function.affine = all_affine(f.nodes);
  l.function.rescales = is_rescaling(graph_, f);
}

}  // namespace accsim::sim
