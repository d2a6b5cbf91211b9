#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sim/operators/elementwise/elementwise_values.h"
#include "sim/operators/fold.h"
#include "sim/operators/reduction/reduction_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {

Result<std::vector<int64_t>> reduced_axes(const NodeView& node, size_t port) {
  Result<std::optional<std::vector<int64_t>>> given = axes_of(node, port);
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

/// Gathers each output's elements with `f`, which `f` is told of the first of.
template <class T, class F>
std::vector<T> gather_elements(const NodeView& node, const std::vector<int64_t>& axes, F f) {
  const Dims& dims = node.dims(0);
  const Dims kept = reduced_dims(dims, axes, true);
  const std::vector<T> values = read_as<T>(*node.value(0));
  const std::vector<int64_t> to = strided_offsets(dims, broadcast_strides(kept, dims));
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
std::vector<T> reduced_values(const NodeView& node, const std::vector<int64_t>& axes,
                              Reduction reduction) {
  using namespace element;
  const auto gather = [&](auto join, auto term) {
    return gather_elements<T>(node, axes, [&](bool begun, T so_far, T v) {
      return begun ? *join(so_far, term(v)) : term(v);
    });
  };
  const auto same = [](T v) { return v; };
  switch (reduction) {
    case Reduction::product:
      return gather(Mul::result_of<T>, same);
    case Reduction::largest:
      return gather(Max::result_of<T>, same);
    case Reduction::smallest:
      return gather(Min::result_of<T>, same);
    case Reduction::magnitudes:
      return gather(Add::result_of<T>, [](T v) { return Abs::result_of(v); });
    case Reduction::squares:
      return gather(Add::result_of<T>, [](T v) { return *Mul::result_of(v, v); });
    default:
      return gather(Add::result_of<T>, same);
  }
}

}  // namespace

namespace {

Status reduce_shape_along(InferContext& node, size_t port) {
  const Result<std::vector<int64_t>> axes = reduced_axes(node, port);
  if (!axes) return axes.errors();
  return set_shape(node, 0, node.dtype(0),
                   reduced_dims(node.dims(0), *axes, int_attr(node, "keepdims", 1) != 0));
}

}  // namespace

Status reduce_shape(InferContext& node) { return reduce_shape_along(node, 1); }
Status reduce_shape_by_attribute(InferContext& node) {
  return reduce_shape_along(node, node.input_count());
}

Status reduce_value(InferContext& node, Reduction reduction) {
  if (!can_fold(node)) return ok();
  const Result<std::vector<int64_t>> axes = reduced_axes(node);
  if (!axes) return axes.errors();
  const int64_t inputs = elements(node.dims(0)), outputs = output_size(node, 0);
  if (inputs == 0 || outputs == 0) return ok();  // the neutral elements aren't worth having
  const int64_t each = inputs / outputs;         // elements of one result, exactly
  with_type(node.dtype(0), [&]<class T>(T) {
    std::vector<T> results = reduced_values<T>(node, *axes, reduction);
    if (reduction == Reduction::mean)
      for (T& v : results) v = v / static_cast<T>(each);
    store_results(node, 0, results);
  });
  return ok();
}

Result<Work> reduce_cost(const NodeView& node, const ReduceCounts& counts) {
  if (Status s = check_countable(node); !s) return s.errors();
  const int64_t inputs = elements(node.dims(0)), outputs = output_size(node, 0);
  VectorOp op;
  read_input(node, 0, op.inputs);
  write_output(node, 0, op.outputs);
  op[VectorClass::reduce] = inputs * counts.passes;
  op[VectorClass::elementwise] = inputs * counts.element_ops + outputs * counts.result_ops;
  op[VectorClass::special] = inputs * counts.element_special + outputs * counts.result_special;
  op.row = outputs > 0 ? std::max<int64_t>(inputs / outputs, 1) : 1;
  op.passes = counts.passes;
  return Work{std::move(op)};
}

}  // namespace accsim::sim
