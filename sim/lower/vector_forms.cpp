#include "sim/lower/vector_forms.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "sim/lower/logarithms.h"
#include "sim/lower/part_speller.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"
#include "sim/operators/reduction/reduction_rules.h"
#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

constexpr int64_t kAxesAreAttributes = 11;  ///< the last opset whose ReduceSum has its axes so

/// Beyond every code: numbers so large mean infinity.
constexpr double kLargestFinite = 1000;

// ---- elements ---------------------------------------------------------------------------------

void plan_many(NodeRewrites& r, const Node& node) {
  if (node.inputs.size() < 3 || !is_float(r.graph().tensor(node.outputs[0]).dtype)) return;
  if (std::ranges::find(node.inputs, kNoTensor) != node.inputs.end()) return;
  const char* op = node.op_type == op::kSum   ? op::kAdd
                   : node.op_type == op::kMax ? op::kMax
                                              : op::kMin;
  r.replace_nodes({r.id_of(node)}, [&node, op](RebuiltGraph& g) {
    PartSpeller s(g, node);
    TensorId all = node.inputs[0];
    for (size_t i = 1; i + 1 < node.inputs.size(); ++i) {
      const std::string part = "of_" + std::to_string(i + 1);
      all = s.add(op, part.c_str(), {all, node.inputs[i]},
                  *broadcast_dims(g.dims(all), g.dims(node.inputs[i])));
    }
    s.give(op, {all, node.inputs.back()});
  });
}

void add_prelu(PartSpeller& s, bool at_most_one) {
  const TensorId x = s.input(0), slope = s.input(1);
  if (at_most_one) return s.give(op::kMax, {x, s.add(op::kMul, "scaled", {x, slope}, s.result())});
  const TensorId minus = s.add(op::kNeg, "minus", {x}, s.result());
  const TensorId below = s.add(op::kRelu, "below", {minus}, s.result());
  const TensorId scaled = s.add(op::kMul, "scaled", {below, slope}, s.result());
  s.give(op::kSub, {s.add(op::kRelu, "above", {x}, s.result()), scaled});
}

void plan_prelu(NodeRewrites& r, const Node& node) {
  const Tensor& slope = r.graph().tensor(node.inputs[1]);
  if (elements(slope.dims) == 1 || !is_float(slope.dtype)) return;
  bool at_most_one = slope.value != nullptr;
  bool one_value = at_most_one;
  for (size_t i = 0; slope.value && i < slope.value->size(); ++i) {
    at_most_one = at_most_one && slope.value->as_double(i) <= 1;
    one_value = one_value && slope.value->as_double(i) == slope.value->as_double(0);
  }
  if (one_value) return;  // a function
  r.replace_nodes({r.id_of(node)}, [&node, at_most_one](RebuiltGraph& g) {
    PartSpeller s(g, node);
    add_prelu(s, at_most_one);
  });
}

/// Is it computed, or a constant of known numbers that codes have?
bool is_finite(const NodeRewrites& r, TensorId id) {
  const Tensor& t = r.graph().tensor(id);
  if (!t.constant) return true;
  for (size_t i = 0; t.value && i < t.value->size(); ++i)
    if (!(std::abs(t.value->as_double(i)) < kLargestFinite)) return false;
  return t.value != nullptr;
}
bool is_finite_number(const NodeRewrites& r, TensorId id) {
  return is_finite(r, id) && (!r.graph().tensor(id).constant || elements(r.dims(id)) == 1);
}

void plan_where(NodeRewrites& r, const Node& node) {
  const TensorId a = node.inputs[1], b = node.inputs[2];
  if (!is_float(r.graph().tensor(node.outputs[0]).dtype) || !is_finite_number(r, a) ||
      !is_finite_number(r, b) || (r.graph().tensor(a).constant && r.graph().tensor(b).constant))
    return;
  r.replace_nodes({r.id_of(node)}, [&node, a, b](RebuiltGraph& g) {
    PartSpeller s(g, node);
    Node cast = g.new_operator(op::kCast, kPlainOpset,
                               {{"to", "", static_cast<int64_t>(g.tensor(a).dtype)}});
    const TensorId c =
        g.add_tensor(g.tensor(a), node.name + "/truth_output", g.dims(node.inputs[0]));
    g.add_node(cast, node.name + "/truth", {node.inputs[0]}, {c});
    const TensorId less = s.add(op::kSub, "less", {a, b}, *broadcast_dims(g.dims(a), g.dims(b)));
    const TensorId part = s.add(op::kMul, "part", {less, c}, s.result());
    s.give(op::kAdd, {part, b});
  });
}

bool is_computed(const NodeRewrites& r, TensorId id) {
  return id != kNoTensor && !r.graph().tensor(id).constant;
}

void plan_comparison(NodeRewrites& r, const Node& node) {
  const TensorId a = node.inputs[0], b = node.inputs[1];
  if (!is_float(r.graph().tensor(a).dtype)) return;
  for (const TensorId id : {a, b})  // one number makes it a function of the other one
    if (!is_computed(r, id) && (elements(r.dims(id)) == 1 || !is_finite(r, id))) return;
  r.replace_nodes({r.id_of(node)}, [&node](RebuiltGraph& g) {
    PartSpeller s(g, node);
    const TensorId less = s.add(op::kSub, "less", {s.input(0), s.input(1)}, s.result());
    const TensorId zero = g.add_constant(node.name + "/zero", g.tensor(less).dtype, {},
                                         ConstData(std::vector<double>{0}));
    Node comparison = node;
    comparison.written_as = node.op_type;  // the zero is no parameter
    g.add_node(comparison, node.name, {less, zero}, {node.outputs[0]});
  });
}

// ---- rows -------------------------------------------------------------------------------------

/// A reduction of this node's axes, its dims kept or not.
TensorId add_reduction(PartSpeller& s, const char* op, const char* part, TensorId of,
                       const std::vector<int64_t>& axes) {
  Dims to = s.dims(of);
  for (const int64_t axis : axes) to[static_cast<size_t>(axis)] = 1;
  return s.add(op, part, {of}, std::move(to), {{"axes", "", axes}}, kAxesAreAttributes);
}

void add_sum_of(PartSpeller& s, const NodeView& view, const std::vector<int64_t>& axes) {
  const std::string& name = view.node().op_type;
  const TensorId x = s.input(0);
  TensorId of = x;
  if (name == op::kReduceL1) of = s.add(op::kAbs, "size", {x}, s.dims(x));
  if (name == op::kReduceL2 || name == op::kReduceSumSquare)
    of = s.add(op::kMul, "square", {x, x}, s.dims(x));
  const std::vector<Attribute> attributes{{"axes", "", axes},
                                          {"keepdims", "", view.attr("keepdims", int64_t{1})}};
  if (name != op::kReduceL2 && name != op::kReduceLogSum)
    return s.give(op::kReduceSum, {of}, attributes, kAxesAreAttributes);
  const TensorId sum =
      s.add(op::kReduceSum, "sum", {of}, s.result(), attributes, kAxesAreAttributes);
  s.give(name == op::kReduceL2 ? op::kSqrt : op::kLog, {sum});
}

void plan_sum(NodeRewrites& r, const Node& node) {
  const NodeView view(r.graph(), node);
  const auto axes = reduced_axes(view);
  if (!axes || axes->empty() || !is_float(view.dtype(0))) return;
  r.replace_nodes({r.id_of(node)}, [&node, axes = *axes](RebuiltGraph& g) {
    PartSpeller s(g, node);
    add_sum_of(s, NodeView(g.before(), node), axes);
  });
}

/// x less its maximum, and the logarithm of the sum of its exponentials less that maximum.
struct LogSum {
  TensorId most, less, logarithm;
};
LogSum add_log_sum(PartSpeller& s, const std::vector<int64_t>& axes) {
  const TensorId x = s.input(0);
  LogSum out{};
  out.most = add_reduction(s, op::kReduceMax, "most", x, axes);
  out.less = s.add(op::kSub, "less", {x, out.most}, s.dims(x));
  const TensorId e = s.add(op::kExp, "exponentials", {out.less}, s.dims(x));
  const TensorId sum = add_reduction(s, op::kReduceSum, "sum", e, axes);
  out.logarithm = s.add(op::kLog, "logarithm", {sum}, s.dims(sum));
  return out;
}

void plan_log_softmax(NodeRewrites& r, const Node& node) {
  const NodeView view(r.graph(), node);
  const auto axis = axis_attr(view, view.opset() < 13 ? 1 : -1, view.rank(0));
  if (!axis || !is_float(view.dtype(0))) return;
  std::vector<int64_t> axes{*axis};
  if (view.opset() < 13)
    while (axes.back() + 1 < view.rank(0)) axes.push_back(axes.back() + 1);
  r.replace_nodes({r.id_of(node)}, [&node, axes](RebuiltGraph& g) {
    PartSpeller s(g, node);
    const LogSum sum = add_log_sum(s, axes);
    s.give(op::kSub, {sum.less, sum.logarithm});
  });
}

/// Those that a Softmax of the same rows gives with them stay (sim/lower/logarithms.h).
void plan_log_sum(NodeRewrites& r, const Node& node) {
  const NodeView view(r.graph(), node);
  const auto axes = reduced_axes(view);
  if (!axes || axes->empty() || !is_float(view.dtype(0))) return;
  const bool beside_softmax = std::ranges::any_of(
      r.readers_of(node.inputs[0]), [&](NodeId id) { return r.node(id).op_type == op::kSoftmax; });
  if (beside_softmax &&
      softmax_logarithms(r.graph(), consumers_by_tensor(r.graph())).contains(r.id_of(node)))
    return;
  r.replace_nodes({r.id_of(node)}, [&node, axes = *axes](RebuiltGraph& g) {
    PartSpeller s(g, node);
    const LogSum sum = add_log_sum(s, axes);
    if (s.result() == s.dims(sum.most)) return s.give(op::kAdd, {sum.most, sum.logarithm});
    const TensorId whole = s.add(op::kAdd, "whole", {sum.most, sum.logarithm}, s.dims(sum.most));
    reshape_into(g, whole, node.outputs[0], node.name);
  });
}

}  // namespace

void plan_vector_forms(NodeRewrites& rewrites) {
  using Plan = void (*)(NodeRewrites&, const Node&);
  static constexpr std::pair<std::string_view, Plan> kPlans[] = {
      {op::kSum, plan_many},
      {op::kMax, plan_many},
      {op::kMin, plan_many},
      {op::kPRelu, plan_prelu},
      {op::kWhere, plan_where},
      {op::kReduceL1, plan_sum},
      {op::kReduceL2, plan_sum},
      {op::kReduceSumSquare, plan_sum},
      {op::kReduceLogSum, plan_sum},
      {op::kLogSoftmax, plan_log_softmax},

      {op::kReduceLogSumExp, plan_log_sum},
      {op::kEqual, plan_comparison},
      {op::kGreater, plan_comparison},
      {op::kGreaterOrEqual, plan_comparison},
      {op::kLess, plan_comparison},
      {op::kLessOrEqual, plan_comparison},
  };
  for (const Node& node : rewrites.graph().nodes) {
    if (node.folded || !node.domain.empty() || node.outputs.size() != 1) continue;
    for (const auto& [op, plan] : kPlans)
      if (op == node.op_type) plan(rewrites, node);
  }
}

}  // namespace accsim::sim
