#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/base/sums.h"
#include "sim/operators/fold.h"
#include "sim/operators/movement/movement_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

std::vector<int64_t> positions_of_non_zeros(const ConstData& data) {
  std::vector<int64_t> at;
  for (size_t i = 0; i < data.size(); ++i)
    if (data.as_double(i) != 0) at.push_back(static_cast<int64_t>(i));
  return at;
}

/// The distinct slices of Unique's input along its axis (or elements, when it has none).
struct Distinct {
  Lines lines;
  std::vector<int64_t> first;    ///< per distinct slice, in output order: where it occurs first
  std::vector<int64_t> count;    ///< and how often
  std::vector<int64_t> inverse;  ///< per slice of the input: which distinct one it is
};

template <class T>
void find_distinct(const std::vector<T>& values, bool sorted, Distinct& d) {
  std::map<std::vector<T>, int64_t> seen;  // slice -> number in order of occurrence
  for (int64_t n = 0; n < d.lines.length; ++n) {
    std::vector<T> slice;
    for (int64_t o = 0; o < d.lines.outer; ++o)
      for (int64_t i = 0; i < d.lines.inner; ++i)
        slice.push_back(values[static_cast<size_t>(d.lines.offset_of(o, i, n))]);
    const auto [at, added] = seen.try_emplace(std::move(slice), static_cast<int64_t>(seen.size()));
    if (added) {
      d.first.push_back(n);
      d.count.push_back(0);
    }
    ++d.count[static_cast<size_t>(at->second)];
    d.inverse.push_back(at->second);
  }
  if (!sorted) return;
  const std::vector<int64_t> first = d.first, count = d.count;
  std::vector<int64_t> place(first.size());
  int64_t next = 0;
  for (const auto& [slice, number] : seen) {
    const auto n = static_cast<size_t>(number), to = static_cast<size_t>(next);
    d.first[to] = first[n];
    d.count[to] = count[n];
    place[n] = next++;
  }
  for (int64_t& n : d.inverse) n = place[static_cast<size_t>(n)];
}

/// What Unique compares: slices along its axis, or elements.
Result<Lines> unique_lines(const NodeView& node) {
  if (!node.has_attr("axis")) return Lines{1, elements(node.dims(0)), 1};
  const Result<int64_t> axis = axis_attr(node, 0, node.rank(0));
  if (!axis) return axis.errors();
  return lines_along(node.dims(0), *axis);
}

/// Of an input that is known.
Result<Distinct> distinct_of_input(const NodeView& node) {
  const Result<Lines> lines = unique_lines(node);
  if (!lines) return lines.errors();
  Distinct d;
  d.lines = *lines;
  const ConstData* data = node.value(0);
  if (data->size() == 0) return unsupported_node(node, "the input is empty");
  if (!data->is_integer() && std::ranges::any_of(data->reals(), [](double v) { return v != v; }))
    return unsupported_node(node, "the input has NaNs, which have no order");
  const bool sorted = int_attr(node, "sorted", 1) != 0;
  if (data->is_integer())
    find_distinct(data->integers(), sorted, d);
  else
    find_distinct(data->reals(), sorted, d);
  return d;
}

}  // namespace

Status non_zero_shape(InferContext& node) {
  const ConstData* data = node.value(0);
  if (data == nullptr) {
    const auto count = node.assumed_size("elements that aren't 0", elements(node.dims(0)));
    if (!count) return count.errors();
    return set_shape(node, 0, DType::int64, {node.rank(0), *count});
  }
  const auto count = static_cast<int64_t>(positions_of_non_zeros(*data).size());
  return set_shape(node, 0, DType::int64, {node.rank(0), count});
}

Status non_zero_value(InferContext& node) {
  if (!node.has_output(0)) return ok();
  const Dims& dims = node.dims(0);
  const Strides strides = row_major(dims);
  const std::vector<int64_t> at = positions_of_non_zeros(*node.value(0));
  std::vector<int64_t> indices;
  for (size_t axis = 0; axis < dims.size(); ++axis)
    for (const int64_t n : at) indices.push_back(n / strides[axis] % dims[axis]);
  node.set_value(0, std::move(indices));
  return ok();
}

Result<Work> non_zero_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  VectorOp op = vector_op(node);
  op[VectorClass::search] = elements(node.dims(0));
  return Work{std::move(op)};
}

Status unique_shape(InferContext& node) {
  const Result<Lines> lines = unique_lines(node);
  if (!lines) return lines.errors();
  Result<int64_t> count = int64_t{0};
  if (node.value(0) == nullptr) {
    count = node.assumed_size("elements that differ", lines->length);
  } else {
    const Result<Distinct> d = distinct_of_input(node);
    if (!d) return d.errors();
    count = static_cast<int64_t>(d->first.size());
  }
  if (!count) return count.errors();
  Dims dims{*count};
  if (node.has_attr("axis")) {
    dims = node.dims(0);
    dims[static_cast<size_t>(*axis_attr(node, 0, node.rank(0)))] = *count;
  }
  if (Status s = set_shape(node, 0, node.dtype(0), std::move(dims)); !s) return s;
  if (Status s = set_shape(node, 1, DType::int64, {*count}); !s) return s;
  if (Status s = set_shape(node, 2, DType::int64, {lines->length}); !s) return s;
  return set_shape(node, 3, DType::int64, {*count});
}

Status unique_value(InferContext& node) {
  const Result<Distinct> d = distinct_of_input(node);
  if (!d) return d.errors();
  std::vector<int64_t> at;
  for (int64_t o = 0; o < d->lines.outer; ++o)
    for (const int64_t n : d->first)
      for (int64_t i = 0; i < d->lines.inner; ++i) at.push_back(d->lines.offset_of(o, i, n));
  if (node.has_output(0)) take_elements(node, 0, 0, at);
  node.set_value(1, d->first);
  node.set_value(2, d->inverse);
  node.set_value(3, d->count);
  return ok();
}

/// A merge sort.
Result<Work> unique_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  const int64_t count = elements(node.dims(0));
  VectorOp op = vector_op(node);
  op[VectorClass::search] = count * bisection_steps(count);
  op.row = std::max<int64_t>(count, 1);
  return Work{std::move(op)};
}

namespace {

/// Sizes of a NonMaxSuppression: batch entries x classes, boxes of each, and how many of them may
/// be selected: the input, where it is known. Without it none are (ONNX).
struct Suppression {
  int64_t lists = 0, boxes = 0, selected = 0;
};

Result<Suppression> plan_suppression(const NodeView& node) {
  if (node.rank(0) != 3 || node.rank(1) != 3 || node.dims(0)[2] != 4 ||
      node.dims(0)[0] != node.dims(1)[0] || node.dims(0)[1] != node.dims(1)[2])
    return bad_node(node,
                    fmt::format("boxes of shape {} and scores of shape {} aren't batch x boxes "
                                "x 4 and batch x classes x boxes",
                                to_string(node.dims(0)), to_string(node.dims(1))));
  Suppression out{multiply_counts(node.dims(1)[0], node.dims(1)[1]), node.dims(1)[2], 0};
  if (!node.has_input(2)) return out;
  out.selected = out.boxes;
  if (node.value(2) == nullptr) return out;
  const auto most = node.known_integers(2);
  if (!most) return most.errors();
  if (most->size() != 1) return bad_node(node, "max_output_boxes_per_class isn't one number");
  out.selected = std::clamp<int64_t>(most->front(), 0, out.boxes);
  return out;
}

}  // namespace

Status non_max_suppression_shape(InferContext& node) {
  const Result<Suppression> s = plan_suppression(node);
  if (!s) return s.errors();
  const auto count =
      node.assumed_size("boxes that are selected", multiply_counts(s->lists, s->selected));
  if (!count) return count.errors();
  return set_shape(node, 0, DType::int64, {*count, 3});
}

Result<Work> non_max_suppression_cost(const NodeView& node) {
  constexpr int64_t kOverlapOps = 13;
  if (Status s = check_countable(node); !s) return s.errors();
  const Result<Suppression> s = plan_suppression(node);
  if (!s) return s.errors();
  const int64_t candidates = multiply_counts(s->lists, s->boxes);
  // As many as are assumed to be selected, evenly from all lists.
  const int64_t selected = s->lists == 0 ? 0 : ceil_div(node.output(0).dims[0], s->lists);
  VectorOp op = vector_op(node);
  op[VectorClass::search] = multiply_counts(candidates, 1 + bisection_steps(s->boxes));
  op[VectorClass::elementwise] =
      multiply_counts(multiply_counts(candidates, selected), kOverlapOps);
  if (op[VectorClass::search] == kBeyond || op[VectorClass::elementwise] == kBeyond)
    return bad_node(node, "its comparisons leave 64 bits");
  op.row = std::max<int64_t>(s->boxes, 1);
  return Work{std::move(op)};
}

}  // namespace accsim::sim
