#include "sim/lower/repeat_forms.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "sim/lower/code_uses.h"
#include "sim/lower/functions.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"
#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

constexpr int64_t kMostOneHot = 256;             ///< rows of a table for OneHot, and their length
constexpr int64_t kMostOnes = int64_t{1} << 16;  ///< of a product with ones

/// Dims of the ones that a tensor is to be multiplied with where single elements are repeated, one
/// behind the other; nothing where rows are, or the ones would be too many. Ranks are equal.
std::optional<Dims> ones_of(const Dims& from, const Dims& to) {
  size_t last = to.size();
  while (last > 0 && to[last - 1] == 1) --last;
  if (last == 0 || from[last - 1] != 1) return std::nullopt;
  Dims ones = to;
  for (size_t d = 0; d < to.size(); ++d)
    if (from[d] != 1) ones[d] = 1;
  const int64_t count = elements(ones);
  return count > 0 && count <= kMostOnes ? std::optional(ones) : std::nullopt;
}

/// Adds `of` repeated to the result's dims; ranks are equal. It gives `out`.
void add_repeats(RebuiltGraph& g, const Node& node, TensorId of, TensorId out,
                 const std::string& name) {
  const Dims from = g.dims(of), to = g.dims(out);
  const auto count = ones_of(from, to);
  if (count && is_float(g.tensor(of).dtype)) {
    const TensorId ones =
        g.add_constant(name + "/ones", g.tensor(of).dtype, *count,
                       ConstData(std::vector<double>(static_cast<size_t>(elements(*count)), 1)));
    Node product = g.new_operator(op::kMul, kPlainOpset, {});
    product.written_as = node.op_type;
    return g.add_node(product, name, {of, ones}, {out});
  }
  const TensorId shape = g.add_constant(name + "/shape", DType::int64, {std::ssize(to)},
                                        ConstData(std::vector<int64_t>(to.begin(), to.end())));
  Node expand = g.new_operator(op::kExpand, kPlainOpset, {});
  expand.written_as = node.op_type;
  g.add_node(expand, name, {of, shape}, {out});
}

/// The one reader of an Expand, if it repeats that operand itself.
const Node* repeating_reader(const NodeRewrites& r, const Node& expand) {
  const TensorId out = expand.outputs[0];
  const Node* reader = r.sole_reader_of(out);
  if (reader == nullptr || !is_arithmetic(*reader) || reader->inputs.size() != 2) return nullptr;
  const TensorId other = reader->inputs[reader->inputs[0] == out ? 1 : 0];
  if (other == out || other == kNoTensor) return nullptr;
  const auto both = broadcast_dims(r.dims(expand.inputs[0]), r.dims(other));
  return both && *both == r.dims(reader->outputs[0]) ? reader : nullptr;
}

void plan_expand(NodeRewrites& r, const Node& node) {
  const Dims &from = r.dims(node.inputs[0]), &to = r.dims(node.outputs[0]);
  if (const Node* reader = repeating_reader(r, node)) {
    const NodeId id = r.id_of(*reader);
    const bool done = r.replace_nodes({r.id_of(node), id}, [&node, reader, id](RebuiltGraph& g) {
      std::vector<TensorId> inputs = reader->inputs;
      for (TensorId& in : inputs)
        if (in == node.outputs[0]) in = node.inputs[0];
      g.keep_node_with(id, std::move(inputs));
    });
    if (done) return;
  }
  if (from.size() != to.size() || !ones_of(from, to) ||
      !is_float(r.graph().tensor(node.inputs[0]).dtype))
    return;
  r.replace_nodes({r.id_of(node)}, [&node](RebuiltGraph& g) {
    add_repeats(g, node, node.inputs[0], node.outputs[0], node.name);
  });
}

void plan_tile(NodeRewrites& r, const Node& node) {
  const Dims &from = r.dims(node.inputs[0]), &to = r.dims(node.outputs[0]);
  if (from == to || elements(to) == 0 || !is_float(r.graph().tensor(node.inputs[0]).dtype)) return;
  Dims apart, repeated;  // a dim of 1 before each dim that is repeated
  for (size_t d = 0; d < to.size(); ++d) {
    if (from[d] != to[d] && from[d] != 1) {
      apart.push_back(1);
      repeated.push_back(to[d] / from[d]);
    }
    apart.push_back(from[d]);
    repeated.push_back(from[d] == 1 ? to[d] : from[d]);
  }
  if (apart == from) {
    r.replace_nodes({r.id_of(node)}, [&node](RebuiltGraph& g) {
      add_repeats(g, node, node.inputs[0], node.outputs[0], node.name);
    });
    return;
  }
  r.replace_nodes({r.id_of(node)}, [&node, apart, repeated](RebuiltGraph& g) {
    const TensorId x = node.inputs[0];
    const TensorId split = g.add_tensor(g.tensor(x), node.name + "/apart_output", apart);
    reshape_into(g, x, split, node.name + "/apart");
    const TensorId all = g.add_tensor(g.tensor(x), node.name + "/repeated_output", repeated);
    add_repeats(g, node, split, all, node.name + "/repeated");
    reshape_into(g, all, node.outputs[0], node.name);
  });
}

void plan_one_hot(NodeRewrites& r, const Node& node) {
  const NodeView view(r.graph(), node);
  const Dims& out = r.dims(node.outputs[0]);
  const int64_t depth = out.back(), axis = view.attr("axis", int64_t{-1});
  if (depth > kMostOneHot || depth == 0 || (axis != -1 && axis != std::ssize(out) - 1) ||
      !view.input(2).constant || view.input(0).constant || !is_integer(view.dtype(0)) ||
      is_code(r.graph(), node.inputs[0]) || !is_float(view.dtype(2)))
    return;
  r.replace_nodes({r.id_of(node)}, [&node, depth](RebuiltGraph& g) {
    std::vector<int64_t> on(static_cast<size_t>(depth * depth), 0);  // which of the two values
    for (int64_t i = 0; i < depth; ++i) on[static_cast<size_t>(i * depth + i)] = 1;
    const TensorId line = ordered_constant(g, node.inputs[2], 0, on, node.name + "/line");
    const TensorId rows = reshaped(g, line, {depth, depth}, node.name + "/rows");
    g.add_node(g.new_operator(op::kGather, kPlainOpset, {{"axis", "", int64_t{0}}}), node.name,
               {rows, node.inputs[0]}, {node.outputs[0]});
  });
}

}  // namespace

void plan_repeat_forms(NodeRewrites& rewrites) {
  for (const Node& node : rewrites.graph().nodes) {
    if (node.folded || !node.domain.empty() || node.outputs.size() != 1) continue;
    if (node.inputs.size() < 2 || node.inputs[0] == kNoTensor) continue;
    if (node.op_type == op::kExpand) plan_expand(rewrites, node);
    if (node.op_type == op::kTile) plan_tile(rewrites, node);
    if (node.op_type == op::kOneHot) plan_one_hot(rewrites, node);
  }
}

}  // namespace accsim::sim
