#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/operators/elementwise/elementwise_values.h"
#include "sim/operators/fold.h"
#include "sim/operators/reduction/reduction_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

Result<int64_t> top_k_count(const NodeView& node) {
  if (!node.has_input(1) && node.opset() < 10) return int_attr(node, "k", 0);
  const Result<std::vector<int64_t>> k = need_integers(node, 1, "K", "the output shape");
  if (!k) return k.errors();
  if (k->size() != 1) return bad_node(node, "input 'K' must hold one element");
  return k->front();
}

/// Does only data know how many elements are wanted?
bool is_counted_by_data(const NodeView& node) {
  return node.has_input(1) && holds_integers(node.dtype(1)) && elements(node.dims(1)) == 1 &&
         node.value(1) == nullptr && !node.input(1).constant;
}

/// CumSum's axis is an input; its value doesn't change the shape.
Result<int64_t> cumulative_axis(const NodeView& node) {
  const Result<std::vector<int64_t>> axis = need_integers(node, 1, "axis", "the output");
  if (!axis) return axis.errors();
  if (axis->size() != 1) return bad_node(node, "input 'axis' must be a scalar");
  Result<int64_t> normal = normalize_axis(axis->front(), node.rank(0));
  if (!normal) return bad_node(node, normal.errors().front().message);
  return normal;
}

/// The row of a softmax: before opset 13 everything from the axis on was one row.
Result<Lines> softmax_lines(const NodeView& node) {
  const bool flat = node.opset() < 13;
  if (node.rank(0) == 0) return Lines{};
  const Result<int64_t> axis = axis_attr(node, flat ? 1 : -1, node.rank(0));
  // The old default of 1 is the end of a vector: every element is then a row of its own.
  if (!axis && flat && int_attr(node, "axis", 1) == node.rank(0))
    return Lines{elements(node.dims(0)), 1, 1};
  if (!axis) return axis.errors();
  Lines l = lines_along(node.dims(0), *axis);
  if (flat) l = {l.outer, l.length * l.inner, 1};
  return l;
}

/// Positions along a line of `length` values, best first; equal values keep their order.
template <class T>
std::vector<int64_t> ranked_positions(const std::vector<T>& line, bool largest) {
  std::vector<int64_t> order(line.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
    const T x = line[static_cast<size_t>(a)], y = line[static_cast<size_t>(b)];
    return largest ? x > y : x < y;
  });
  return order;
}

template <class T>
std::vector<T> line_of(const std::vector<T>& values, const Lines& l, int64_t o, int64_t i) {
  std::vector<T> line;
  for (int64_t n = 0; n < l.length; ++n)
    line.push_back(values[static_cast<size_t>(l.offset_of(o, i, n))]);
  return line;
}

bool has_nan(const ConstData& data) {
  return !data.is_integer() && std::ranges::any_of(data.reals(), [](double v) { return v != v; });
}

VectorOp first_input_op(const NodeView& node) {
  VectorOp op;
  read_input(node, 0, op.inputs);
  for (size_t i = 0; i < node.output_count(); ++i) write_output(node, i, op.outputs);
  return op;
}

}  // namespace

Status arg_shape(InferContext& node) {
  const Result<int64_t> axis = axis_attr(node, 0, node.rank(0));
  if (!axis) return axis.errors();
  Dims dims = node.dims(0);
  if (int_attr(node, "keepdims", 1) != 0)
    dims[static_cast<size_t>(*axis)] = 1;
  else
    dims.erase(dims.begin() + *axis);
  return set_shape(node, 0, DType::int64, std::move(dims));
}

namespace {

Status arg_value(InferContext& node, bool largest) {
  if (!can_fold(node) || has_nan(*node.value(0))) return ok();
  const Result<int64_t> axis = axis_attr(node, 0, node.rank(0));
  if (!axis) return axis.errors();
  const Lines l = lines_along(node.dims(0), *axis);
  if (l.length == 0) return ok();
  const bool last = int_attr(node, "select_last_index", 0) != 0;
  with_type(node.dtype(0), [&]<class T>(T) {
    const std::vector<T> values = read_as<T>(*node.value(0));
    std::vector<int64_t> indices;
    for (int64_t o = 0; o < l.outer; ++o)
      for (int64_t i = 0; i < l.inner; ++i) {
        const std::vector<T> line = line_of(values, l, o, i);
        size_t best = 0;
        for (size_t n = 1; n < line.size(); ++n) {
          const bool better = largest ? line[n] > line[best] : line[n] < line[best];
          if (better || (last && line[n] == line[best])) best = n;
        }
        indices.push_back(static_cast<int64_t>(best));
      }
    node.set_value(0, std::move(indices));
  });
  return ok();
}

}  // namespace

Status arg_max_value(InferContext& node) { return arg_value(node, true); }
Status arg_min_value(InferContext& node) { return arg_value(node, false); }

Result<Work> arg_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  const Result<int64_t> axis = axis_attr(node, 0, node.rank(0));
  if (!axis) return axis.errors();
  VectorOp op = first_input_op(node);
  op[VectorClass::search] = elements(node.dims(0));
  op.row = std::max<int64_t>(lines_along(node.dims(0), *axis).length, 1);
  return Work{std::move(op)};
}

Status top_k_shape(InferContext& node) {
  const Result<int64_t> axis = axis_attr(node, -1, node.rank(0));
  if (!axis) return axis.errors();
  Dims dims = node.dims(0);
  int64_t& length = dims[static_cast<size_t>(*axis)];
  const Result<int64_t> k = is_counted_by_data(node)
                                ? node.assumed_size("elements that are best", length)
                                : top_k_count(node);
  if (!k) return k.errors();
  if (*k < 0 || *k > length)
    return bad_node(node, fmt::format("K is {} for an axis of {}", *k, length));
  length = *k;
  if (Status s = set_shape(node, 0, node.dtype(0), dims); !s) return s;
  return set_shape(node, 1, DType::int64, std::move(dims));
}

Status top_k_value(InferContext& node) {
  if (!is_foldable(node.dtype(0)) || node.value(0) == nullptr || has_nan(*node.value(0)))
    return ok();
  const Result<int64_t> axis = axis_attr(node, -1, node.rank(0));
  const Result<int64_t> k = top_k_count(node);
  if (!axis || !k) return axis ? Status(k.errors()) : Status(axis.errors());
  const Lines l = lines_along(node.dims(0), *axis);
  const Lines to{l.outer, *k, l.inner};
  const bool largest = int_attr(node, "largest", 1) != 0;
  const auto count = static_cast<size_t>(to.outer * to.length * to.inner);
  std::vector<int64_t> indices(count), at(count);
  with_type(node.dtype(0), [&]<class T>(T) {
    const std::vector<T> values = read_as<T>(*node.value(0));
    for (int64_t o = 0; o < l.outer; ++o)
      for (int64_t i = 0; i < l.inner; ++i) {
        const std::vector<int64_t> order = ranked_positions(line_of(values, l, o, i), largest);
        for (int64_t n = 0; n < *k; ++n) {
          const auto slot = static_cast<size_t>(to.offset_of(o, i, n));
          indices[slot] = order[static_cast<size_t>(n)];
          at[slot] = l.offset_of(o, i, indices[slot]);
        }
      }
  });
  if (node.has_output(0)) take_elements(node, 0, 0, at);
  node.set_value(1, std::move(indices));
  return ok();
}

/// Each element is compared along the path of a heap of K.
Result<Work> top_k_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  const Result<int64_t> axis = axis_attr(node, -1, node.rank(0));
  if (!axis) return axis.errors();
  const size_t made = node.has_output(0) ? 0 : 1;
  const Result<int64_t> k = is_counted_by_data(node)
                                ? node.output(made).dims[static_cast<size_t>(*axis)]
                                : top_k_count(node);
  if (!k) return k.errors();
  VectorOp op = first_input_op(node);
  op[VectorClass::search] = elements(node.dims(0)) * bisection_steps(*k);
  op.row = std::max<int64_t>(lines_along(node.dims(0), *axis).length, 1);
  return Work{std::move(op)};
}

Status cumulative_shape(InferContext& node) {
  const bool known = node.value(1) != nullptr;
  if (node.rank(0) == 0) return bad_node(node, "the input is a scalar");
  if (known)
    if (const Result<int64_t> axis = cumulative_axis(node); !axis) return axis.errors();
  return same_shape(node);
}

namespace {

Status cumulative_value(InferContext& node, bool product) {
  if (!can_fold(node)) return ok();
  const Result<int64_t> axis = cumulative_axis(node);
  if (!axis) return axis.errors();
  const Lines l = lines_along(node.dims(0), *axis);
  const bool exclusive = int_attr(node, "exclusive", 0) != 0;
  const bool reverse = int_attr(node, "reverse", 0) != 0;
  with_type(node.dtype(0), [&]<class T>(T) {
    const std::vector<T> values = read_as<T>(*node.value(0));
    std::vector<T> results(values.size());
    for (int64_t o = 0; o < l.outer; ++o)
      for (int64_t i = 0; i < l.inner; ++i) {
        T total = product ? T{1} : T{};
        for (int64_t n = 0; n < l.length; ++n) {
          const auto at = static_cast<size_t>(l.offset_of(o, i, reverse ? l.length - 1 - n : n));
          const T before = total;
          total = product ? *element::Mul::result_of(total, values[at])
                          : *element::Add::result_of(total, values[at]);
          results[at] = exclusive ? before : total;
        }
      }
    store_results(node, 0, results);
  });
  return ok();
}

}  // namespace

Status cumulative_sum_value(InferContext& node) { return cumulative_value(node, false); }
Status cumulative_product_value(InferContext& node) { return cumulative_value(node, true); }

Result<Work> cumulative_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  VectorOp op = first_input_op(node);
  op[VectorClass::search] = elements(node.dims(0));
  // Without the axis the last one stands for it.
  int64_t axis = node.rank(0) - 1;
  if (node.value(1) != nullptr)
    if (const Result<int64_t> known = cumulative_axis(node); known) axis = *known;
  op.row = std::max<int64_t>(lines_along(node.dims(0), axis).length, 1);
  return Work{std::move(op)};
}

Status softmax_shape(InferContext& node) {
  if (const Result<Lines> l = softmax_lines(node); !l) return l.errors();
  return same_shape(node);
}

/// The largest of each row, subtract it, exp, sum, multiply by the reciprocal of the sum; for
/// LogSoftmax the log of the sum is subtracted instead.
Result<Work> softmax_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  const Result<Lines> l = softmax_lines(node);
  if (!l) return l.errors();
  const int64_t count = elements(node.dims(0));
  VectorOp op = vector_op(node);
  op[VectorClass::reduce] = 2 * count;
  op[VectorClass::elementwise] = 2 * count;
  op[VectorClass::special] = count + l->outer * l->inner;
  op.row = std::max<int64_t>(l->length, 1);
  op.passes = 3;
  return Work{std::move(op)};
}

/// The place of each row's largest, then a compare-select per element.
Result<Work> hardmax_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  const Result<Lines> l = softmax_lines(node);
  if (!l) return l.errors();
  VectorOp op = vector_op(node);
  op[VectorClass::search] = elements(node.dims(0));
  op[VectorClass::elementwise] = elements(node.dims(0));
  op.row = std::max<int64_t>(l->length, 1);
  return Work{std::move(op)};
}

Status det_shape(InferContext& node) {
  if (Status s = want_rank_from(node, 0, 2); !s) return s;
  Dims dims = node.dims(0);
  const int64_t columns = dims.back();
  dims.pop_back();
  if (dims.back() != columns) return bad_node(node, "the matrices aren't square");
  dims.pop_back();
  return set_shape(node, 0, node.dtype(0), std::move(dims));
}

/// LU decomposition of each n x n matrix: n (n - 1) (2n - 1) / 6 multiply-adds and n (n - 1) / 2
/// divisions; then the product of the diagonal.
Result<Work> det_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  const Dims& dims = node.dims(0);
  const int64_t n = dims.back(), count = elements(dims, 0, dims.size() - 2);
  // n^2 fits countable's limit, n^3 need not.
  const std::optional<int64_t> cubes = size_product(elements(dims), 2 * n);
  if (!cubes) return bad_node(node, "the matrices are too large");
  VectorOp op = vector_op(node);
  op[VectorClass::elementwise] = (*cubes - 3 * elements(dims) + count * n) / 6;
  op[VectorClass::special] = count * (n * (n - 1) / 2);
  op[VectorClass::reduce] = count * n;
  op.row = std::max<int64_t>(n * n, 1);
  return Work{std::move(op)};
}

}  // namespace accsim::sim
