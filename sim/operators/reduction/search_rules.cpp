#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

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
        slice.push_back(values[static_cast<size_t>(d.lines.at(o, i, n))]);
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

Result<Distinct> distinct(const NodeView& node) {
  Distinct d;
  d.lines = {1, elements(node.dims(0)), 1};
  if (node.has_attr("axis")) {
    const Result<int64_t> axis = axis_attr(node, 0, node.rank(0));
    if (!axis) return axis.errors();
    d.lines = lines(node.dims(0), *axis);
  }
  const ConstData* data = node.value(0);
  if (data == nullptr) return unknown_value(node, 0, "X", "the output shape");
  if (data->size() == 0) return refused(node, "the input is empty");
  if (!data->is_integer() && std::ranges::any_of(data->reals(), [](double v) { return v != v; }))
    return refused(node, "the input has NaNs, which have no order");
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
  if (data == nullptr) return unknown_value(node, 0, "X", "output dim 1");
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
  if (Status s = countable(node); !s) return s.errors();
  VectorOp op = vector_op(node);
  op[VectorClass::search] = elements(node.dims(0));
  return Work{std::move(op)};
}

Status unique_shape(InferContext& node) {
  const Result<Distinct> d = distinct(node);
  if (!d) return d.errors();
  const auto count = static_cast<int64_t>(d->first.size());
  Dims dims{count};
  if (node.has_attr("axis")) {
    dims = node.dims(0);
    dims[static_cast<size_t>(*axis_attr(node, 0, node.rank(0)))] = count;
  }
  if (Status s = set_shape(node, 0, node.dtype(0), std::move(dims)); !s) return s;
  if (Status s = set_shape(node, 1, DType::int64, {count}); !s) return s;
  if (Status s = set_shape(node, 2, DType::int64, {d->lines.length}); !s) return s;
  return set_shape(node, 3, DType::int64, {count});
}

Status unique_value(InferContext& node) {
  const Result<Distinct> d = distinct(node);
  if (!d) return d.errors();
  std::vector<int64_t> at;
  for (int64_t o = 0; o < d->lines.outer; ++o)
    for (const int64_t n : d->first)
      for (int64_t i = 0; i < d->lines.inner; ++i) at.push_back(d->lines.at(o, i, n));
  if (node.has_output(0)) take(node, 0, 0, at);
  node.set_value(1, d->first);
  node.set_value(2, d->inverse);
  node.set_value(3, d->count);
  return ok();
}

/// A merge sort.
Result<Work> unique_cost(const NodeView& node) {
  if (Status s = countable(node); !s) return s.errors();
  const int64_t count = elements(node.dims(0));
  VectorOp op = vector_op(node);
  op[VectorClass::search] = count * std::bit_width(static_cast<uint64_t>(count));
  op.row = std::max<int64_t>(count, 1);
  return Work{std::move(op)};
}

Status non_max_suppression_shape(InferContext& node) {
  return refused(node, "output dim 0 depends on the boxes and scores; end the model before it");
}

}  // namespace accsim::sim
