#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "sim/operators/elementwise/elementwise_values.h"
#include "sim/operators/fold.h"
#include "sim/operators/reduction/reduction_rules.h"
#include "sim/operators/rules.h"

namespace accsim::sim {

Result<std::vector<int64_t>> reduced_axes(const NodeView& node) {
  Result<std::optional<std::vector<int64_t>>> given = axes_of(node, 1);
  if (!given) return given.errors();
  const int64_t rank = node.rank(0);
  if (!*given || (*given)->empty()) {
    std::vector<int64_t> axes;
    if (int_attr(node, "noop_with_empty_axes", 0) != 0) return axes;
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
    return axes;
  }
  // A scalar may be reduced along its imaginary axis.
  const auto imaginary = [](int64_t axis) { return axis == 0 || axis == -1; };
  if (rank == 0 && std::ranges::all_of(**given, imaginary)) return std::vector<int64_t>{};
  Result<std::vector<int64_t>> axes = normalize_axes(**given, rank);
  if (!axes) return bad_node(node, axes.errors().front().message);
  return axes;
}

namespace {

Dims reduced_dims(const Dims& dims, const std::vector<int64_t>& axes, bool keep) {
  Dims out;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!std::ranges::binary_search(axes, static_cast<int64_t>(i)))
      out.push_back(dims[i]);
    else if (keep)
      out.push_back(1);
  }
  return out;
}

/// What a Reduce* does to each element, how it gathers them and what it does to each result.
struct Kind {
  std::string_view op;
  int64_t element_ops, element_special;  ///< per input element, before it is gathered
  int64_t result_ops, result_special;    ///< per output element
  int passes;
};
constexpr std::array<Kind, 10> kKinds = {{
    {"ReduceL1", 1, 0, 0, 0, 1},         // abs
    {"ReduceL2", 1, 0, 0, 1, 1},         // square; square root
    {"ReduceLogSum", 0, 0, 0, 1, 1},     // log
    {"ReduceLogSumExp", 1, 1, 1, 1, 2},  // subtract the largest, exp; log, add the largest
    {"ReduceMax", 0, 0, 0, 0, 1},
    {"ReduceMean", 0, 0, 1, 0, 1},  // scale
    {"ReduceMin", 0, 0, 0, 0, 1},
    {"ReduceProd", 0, 0, 0, 0, 1},
    {"ReduceSum", 0, 0, 0, 0, 1},
    {"ReduceSumSquare", 1, 0, 0, 0, 1},  // square
}};

/// Gathers each output's elements with `f`, which `f` is told of the first of.
template <class T, class F>
std::vector<T> gather_elements(const NodeView& node, const std::vector<int64_t>& axes, F f) {
  const Dims& dims = node.dims(0);
  const Dims kept = reduced_dims(dims, axes, true);
  const std::vector<T> values = read_as<T>(*node.value(0));
  const std::vector<int64_t> to = offsets(dims, broadcast_strides(kept, dims));
  std::vector<T> total(static_cast<size_t>(elements(kept)));
  std::vector<bool> begun(total.size(), false);
  for (size_t n = 0; n < values.size(); ++n) {
    const auto o = static_cast<size_t>(to[n]);
    total[o] = f(begun[o], total[o], values[n]);
    begun[o] = true;
  }
  return total;
}

template <class T>
std::vector<T> reduced(const NodeView& node, const std::vector<int64_t>& axes) {
  using namespace element;
  const std::string_view op = node.node().op_type;
  if (op == "ReduceProd")
    return gather_elements<T>(node, axes,
                              [](bool begun, T sum, T v) { return begun ? *Mul::of(sum, v) : v; });
  if (op == "ReduceMax")
    return gather_elements<T>(node, axes,
                              [](bool begun, T sum, T v) { return begun ? *Max::of(sum, v) : v; });
  if (op == "ReduceMin")
    return gather_elements<T>(node, axes,
                              [](bool begun, T sum, T v) { return begun ? *Min::of(sum, v) : v; });
  return gather_elements<T>(node, axes, [&](bool begun, T sum, T v) {
    const T term = op == "ReduceL1" ? Abs::of(v) : op == "ReduceSumSquare" ? *Mul::of(v, v) : v;
    return begun ? *Add::of(sum, term) : term;
  });
}

}  // namespace

Status reduce_shape(InferContext& node) {
  const Result<std::vector<int64_t>> axes = reduced_axes(node);
  if (!axes) return axes.errors();
  return set_shape(node, 0, node.dtype(0),
                   reduced_dims(node.dims(0), *axes, int_attr(node, "keepdims", 1) != 0));
}

Status reduce_value(InferContext& node) {
  if (!can_fold(node)) return ok();
  const Result<std::vector<int64_t>> axes = reduced_axes(node);
  if (!axes) return axes.errors();
  const int64_t inputs = elements(node.dims(0)), outputs = output_elements(node);
  if (inputs == 0 || outputs == 0) return ok();  // the neutral elements aren't worth having
  const bool mean = node.node().op_type == "ReduceMean";
  const int64_t each = inputs / outputs;  // elements of one result, exactly
  with_type(node.dtype(0), [&]<class T>(T) {
    std::vector<T> results = reduced<T>(node, *axes);
    if (mean)
      for (T& v : results) v = v / static_cast<T>(each);
    store(node, 0, results);
  });
  return ok();
}

Result<Work> reduce_cost(const NodeView& node) {
  if (Status s = countable(node); !s) return s.errors();
  const auto kind = std::ranges::find(kKinds, std::string_view(node.node().op_type), &Kind::op);
  check(kind != kKinds.end(), "reduce_cost of another operator");
  const int64_t inputs = elements(node.dims(0)), outputs = output_elements(node);
  VectorOp op;
  read_input(node, 0, op.inputs);
  write_output(node, 0, op.outputs);
  op[VectorClass::reduce] = inputs * kind->passes;
  op[VectorClass::elementwise] = inputs * kind->element_ops + outputs * kind->result_ops;
  op[VectorClass::special] = inputs * kind->element_special + outputs * kind->result_special;
  op.row = outputs > 0 ? std::max<int64_t>(inputs / outputs, 1) : 1;
  op.passes = kind->passes;
  return Work{std::move(op)};
}

}  // namespace accsim::sim
