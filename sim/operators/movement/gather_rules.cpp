#include <fmt/format.h>

#include <algorithm>

#include "sim/operators/expert_groups.h"
#include "sim/operators/fold.h"
#include "sim/operators/movement/box_rules.h"
#include "sim/operators/movement/index_rules.h"
#include "sim/operators/movement/movement_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {

Result<std::vector<int64_t>> indices_of(const NodeView& node, size_t i, int64_t size) {
  std::vector<int64_t> indices = node.value(i)->integers();
  for (int64_t& index : indices) {
    if (index < -size || index >= size)
      return bad_node(node, fmt::format("index {} is outside a dim of {}", index, size));
    if (index < 0) index += size;
  }
  return indices;
}

Result<std::vector<int64_t>> tuple_offsets(const NodeView& node, int64_t batch_dims) {
  const Dims &dims = node.dims(0), &index_dims = node.dims(1);
  const std::vector<int64_t>& indices = node.value(1)->integers();
  const int64_t width = index_dims.back();
  const auto b = static_cast<size_t>(batch_dims);
  const Strides strides = row_major(dims);
  const int64_t batches = elements(dims, 0, b);
  const int64_t batch = elements(dims, b, dims.size());
  const int64_t tuples = elements(index_dims, 0, index_dims.size() - 1);
  std::vector<int64_t> at;
  for (int64_t t = 0; t < tuples; ++t) {
    int64_t offset = t / std::max<int64_t>(tuples / std::max<int64_t>(batches, 1), 1) * batch;
    for (int64_t w = 0; w < width; ++w) {
      const auto axis = b + static_cast<size_t>(w);
      const int64_t index = indices[static_cast<size_t>(t * width + w)], size = dims[axis];
      if (index < -size || index >= size)
        return bad_node(node, fmt::format("index {} is outside dim {} of {}", index, axis, size));
      offset += (index < 0 ? index + size : index) * strides[axis];
    }
    at.push_back(offset);
  }
  return at;
}

Status same_rank_indices(const NodeView& node, size_t indices) {
  if (node.rank(0) > 0 && node.rank(indices) == node.rank(0)) return ok();
  return bad_node(node, fmt::format("indices must have the rank of the data, {}, not {}",
                                    node.rank(0), node.rank(indices)));
}

Result<std::vector<int64_t>> element_offsets(const NodeView& node, int64_t axis,
                                             const Dims& shape) {
  const Dims &dims = node.dims(0), &list = node.dims(1);
  const auto a = static_cast<size_t>(axis);
  for (size_t i = 0; i < dims.size(); ++i)
    if (i != a && shape[i] > dims[i])
      return bad_node(node, fmt::format("dim {} of the indices is larger than the data's", i));
  const Result<std::vector<int64_t>> indices = indices_of(node, 1, dims[a]);
  if (!indices) return indices.errors();
  Strides strides = row_major(dims);
  const int64_t along = strides[a];
  strides[a] = 0;  // along the axis the index says where, not the position
  std::vector<int64_t> at = strided_offsets(shape, strides);
  const std::vector<int64_t> which = strided_offsets(shape, broadcast_strides(list, shape));
  for (size_t n = 0; n < at.size(); ++n) at[n] += (*indices)[static_cast<size_t>(which[n])] * along;
  return at;
}

namespace {

Result<int64_t> batch_dims_of(const NodeView& node) {
  const int64_t batch = int_attr(node, "batch_dims", 0);
  if (batch < 0 || batch >= std::min(node.rank(0), node.rank(1)))
    return bad_node(node, fmt::format("batch_dims is {}", batch));
  return batch;
}

/// Positions where Compress's condition holds, below `size`.
Result<std::vector<int64_t>> kept_positions(const NodeView& node, int64_t size) {
  const Result<std::vector<int64_t>> condition =
      need_integers(node, 1, "condition", "the output shape");
  if (!condition) return condition.errors();
  std::vector<int64_t> at;
  const size_t length = std::min(condition->size(), static_cast<size_t>(size));
  for (size_t i = 0; i < length; ++i)
    if ((*condition)[i] != 0) at.push_back(static_cast<int64_t>(i));
  return at;
}

/// What Compress works on: its axis, or everything flattened.
Result<Lines> compress_lines(const NodeView& node) {
  if (!node.has_attr("axis")) return Lines{1, elements(node.dims(0)), 1};
  const Result<int64_t> axis = axis_attr(node, 0, node.rank(0));
  if (!axis) return axis.errors();
  return lines_along(node.dims(0), *axis);
}

}  // namespace

namespace {

constexpr int64_t kLeastMatrix = 4096;  ///< elements of an expert's weights

/// Of several tokens' experts, whose constant matrices only data picks, some are the same: notes
/// how many are different.
Status assume_experts(InferContext& node, int64_t axis) {
  const Dims& data = node.dims(0);
  const bool experts = axis == 0 && data.size() == 3 && data[1] > 1 && data[2] > 1 &&
                       elements(data, 1, 3) >= kLeastMatrix && node.input(0).constant;
  if (!experts || node.input(1).constant) return ok();
  const ExpertChoice choice = choice_behind(node.graph(), node.node().inputs[1], data[0]);
  if (choice.tokens < 2 || node.value(1) != nullptr) return ok();
  const Result<int64_t> used =
      node.assumed_size({.of = std::string(kExpertsAtWork),
                         .bound = std::min(data[0], elements(node.dims(1))),
                         .size = usual_experts(data[0], choice),
                         .of_cost = true});
  if (!used) return used.errors();
  if (*used < 1) return bad_node(node, "--assume gives no expert any of the tokens");
  return ok();
}

}  // namespace

Status gather_shape(InferContext& node) {
  const Result<int64_t> axis = axis_attr(node, 0, node.rank(0));
  if (!axis) return axis.errors();
  if (!holds_integers(node.dtype(1))) return bad_node(node, "indices must be integers");
  const Dims &data = node.dims(0), &indices = node.dims(1);
  Dims dims(data.begin(), data.begin() + *axis);
  dims.insert(dims.end(), indices.begin(), indices.end());
  dims.insert(dims.end(), data.begin() + *axis + 1, data.end());
  if (Status s = set_shape(node, 0, node.dtype(0), std::move(dims)); !s) return s;
  return assume_experts(node, *axis);
}

Status gather_value(InferContext& node) {
  if (!can_fold(node)) return ok();
  const Result<int64_t> axis = axis_attr(node, 0, node.rank(0));
  if (!axis) return axis.errors();
  const Lines l = lines_along(node.dims(0), *axis);
  const Result<std::vector<int64_t>> indices = indices_of(node, 1, l.length);
  if (!indices) return indices.errors();
  std::vector<int64_t> at;
  for (int64_t o = 0; o < l.outer; ++o)
    for (const int64_t index : *indices)
      for (int64_t i = 0; i < l.inner; ++i) at.push_back(l.offset_of(o, i, index));
  take_elements(node, 0, 0, at);
  return ok();
}

Status gather_elements_shape(InferContext& node) {
  const Result<int64_t> axis = axis_attr(node, 0, node.rank(0));
  if (!axis) return axis.errors();
  if (Status s = same_rank_indices(node, 1); !s) return s;
  if (!holds_integers(node.dtype(1))) return bad_node(node, "indices must be integers");
  const Dims to = node.attr(kRepeatedTo, node.dims(1));
  if (broadcast_dims(node.dims(1), to) != to)
    return bad_node(node, fmt::format("indices {} can't be repeated to {}", to_string(node.dims(1)),
                                      to_string(to)));
  return set_shape(node, 0, node.dtype(0), to);
}

Status gather_elements_value(InferContext& node) {
  if (!can_fold(node)) return ok();
  const Result<int64_t> axis = axis_attr(node, 0, node.rank(0));
  if (!axis) return axis.errors();
  const Result<std::vector<int64_t>> at = element_offsets(node, *axis, node.output(0).dims);
  if (!at) return at.errors();
  take_elements(node, 0, 0, *at);
  return ok();
}

Status gather_nd_shape(InferContext& node) {
  if (Status s = want_rank_from(node, 0, 1); !s) return s;
  if (Status s = want_rank_from(node, 1, 1); !s) return s;
  if (!holds_integers(node.dtype(1))) return bad_node(node, "indices must be integers");
  const Result<int64_t> batch = batch_dims_of(node);
  if (!batch) return batch.errors();
  const Dims &data = node.dims(0), &indices = node.dims(1);
  const int64_t width = indices.back();
  if (width < 1 || width > node.rank(0) - *batch)
    return bad_node(node, fmt::format("index tuples of {} don't fit data of rank {} with {} batch "
                                      "dims",
                                      width, node.rank(0), *batch));
  for (int64_t i = 0; i < *batch; ++i)
    if (data[static_cast<size_t>(i)] != indices[static_cast<size_t>(i)])
      return bad_node(node, fmt::format("batch dim {} of data and indices differs", i));
  Dims dims(indices.begin(), indices.end() - 1);
  dims.insert(dims.end(), data.begin() + *batch + width, data.end());
  return set_shape(node, 0, node.dtype(0), std::move(dims));
}

Status gather_nd_value(InferContext& node) {
  if (!can_fold(node)) return ok();
  const Result<int64_t> batch = batch_dims_of(node);
  if (!batch) return batch.errors();
  const Result<std::vector<int64_t>> tuples = tuple_offsets(node, *batch);
  if (!tuples) return tuples.errors();
  const Dims& dims = node.dims(0);
  const int64_t slice =
      elements(dims, static_cast<size_t>(*batch + node.dims(1).back()), dims.size());
  std::vector<int64_t> at;
  for (const int64_t start : *tuples)
    for (int64_t i = 0; i < slice; ++i) at.push_back(start + i);
  take_elements(node, 0, 0, at);
  return ok();
}

namespace {

/// As many elements as output 0 has, picked in pieces of `run`, and all indices.
Result<Work> picked_work(const NodeView& node, int64_t run) {
  if (Status s = check_countable(node); !s) return s.errors();
  if (output_size(node, 0) > 0 && input_size(node, 0) == 0)
    return bad_node(node, fmt::format("{} elements are picked from an input {}, which has none",
                                      output_size(node, 0), to_string(node.dims(0))));
  MemoryOp op;
  read_part(node, 0, output_size(node, 0), run, op.inputs);
  read_input(node, 1, op.inputs);
  write_output(node, 0, op.outputs);
  return Work{std::move(op)};
}

/// The boxes that known indices pick, as they lie in memory.
Work picked_boxes(const NodeView& node, const std::vector<PickRun>& parts, int64_t all,
                  int64_t axis) {
  Dims dims = node.in_order(node.dims(0));
  const auto along = static_cast<size_t>(node.place_of(axis));
  const Strides in = row_major(dims);
  dims[along] = all;
  const Strides out = row_major(dims);
  std::vector<BoxAxis> axes = box_axes(dims, in, out);
  Work work;
  int64_t before = 0;
  for (const PickRun& part : parts) {
    axes[along] = {part.count, in[along] * part.step, out[along]};
    work.push_back(box_move(axes, 0, 0, part.first * in[along], before * out[along]));
    before += part.count;
  }
  return work;
}

/// What a GatherElements picks, if these are rows: its axis is the innermost one, or its indices
/// have a dim of 1 wherever a row goes on. They may have such dims before all others, too: groups
/// of rows that have the same lists.
std::optional<PickedRows> rows_of_elements(const NodeView& node, size_t axis) {
  const Dims &data = node.dims(0), &list = node.dims(1), &out = node.output(0).dims;
  PickedRows rows{.rows = data[axis], .count = out[axis]};
  for (size_t d = 0; d < data.size(); ++d) {
    if (d == axis) continue;
    if (data[d] != out[d]) return std::nullopt;
    if (d > axis) {
      if (list[d] != 1) return std::nullopt;
      rows.row = capped_product({rows.row, data[d]});
      continue;
    }
    rows.groups = capped_product({rows.groups, data[d]});
    if (list[d] == data[d])
      rows.lists = capped_product({rows.lists, data[d]});
    else if (rows.lists > 1)
      return std::nullopt;
  }
  return rows;
}

}  // namespace

std::vector<PickRun> pick_runs(const std::vector<int64_t>& indices) {
  std::vector<PickRun> out;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!out.empty()) {
      PickRun& last = out.back();
      if (last.count == 1) last.step = indices[i] - last.first;
      if (indices[i] == last.first + last.count * last.step) {
        ++last.count;
        continue;
      }
    }
    out.push_back({indices[i]});
  }
  return out;
}

Result<Work> gather_cost(const NodeView& node) {
  const Result<int64_t> axis = axis_attr(node, 0, node.rank(0));
  if (!axis) return axis.errors();
  if (node.value(1) && output_size(node, 0) > 0) {
    if (Status s = check_countable(node); !s) return s.errors();
    const auto indices = indices_of(node, 1, node.dims(0)[static_cast<size_t>(*axis)]);
    if (!indices) return indices.errors();
    const std::vector<PickRun> parts = pick_runs(*indices);
    if (parts.size() <= kMostBoxes) return picked_boxes(node, parts, std::ssize(*indices), *axis);
  }
  const Lines l = lines_along(node.in_order(node.dims(0)), node.place_of(*axis));
  Result<Work> work = picked_work(node, l.inner);
  if (work)
    std::get<MemoryOp>(work->front()).picked = {l.outer, l.length, l.inner, input_size(node, 1)};
  return work;
}

Result<Work> gather_elements_cost(const NodeView& node) {
  const Result<int64_t> axis = axis_attr(node, 0, node.rank(0));
  if (!axis) return axis.errors();
  const auto rows = rows_of_elements(node, static_cast<size_t>(*axis));
  Result<Work> work = picked_work(node, rows ? rows->row : 1);
  if (work) std::get<MemoryOp>(work->front()).picked = rows;
  return work;
}

Result<Work> gather_nd_cost(const NodeView& node) {
  const Dims& dims = node.dims(0);
  const int64_t from = int_attr(node, "batch_dims", 0) + node.dims(1).back();
  return picked_work(node, elements(dims, static_cast<size_t>(from), dims.size()));
}

Status compress_shape(InferContext& node) {
  const Result<Lines> l = compress_lines(node);
  if (!l) return l.errors();
  Result<int64_t> count = int64_t{0};
  if (node.value(1) == nullptr) {
    count = node.assumed_size("entries that are kept", std::min(l->length, elements(node.dims(1))));
  } else {
    const Result<std::vector<int64_t>> at = kept_positions(node, l->length);
    if (!at) return at.errors();
    count = static_cast<int64_t>(at->size());
  }
  if (!count) return count.errors();
  if (!node.has_attr("axis")) return set_shape(node, 0, node.dtype(0), {*count});
  const Result<int64_t> axis = axis_attr(node, 0, node.rank(0));
  Dims dims = node.dims(0);
  dims[static_cast<size_t>(*axis)] = *count;
  return set_shape(node, 0, node.dtype(0), std::move(dims));
}

Status compress_value(InferContext& node) {
  if (!can_fold(node)) return ok();
  const Result<Lines> l = compress_lines(node);
  if (!l) return l.errors();
  const Result<std::vector<int64_t>> indices = kept_positions(node, l->length);
  if (!indices) return indices.errors();
  std::vector<int64_t> at;
  for (int64_t o = 0; o < l->outer; ++o)
    for (const int64_t index : *indices)
      for (int64_t i = 0; i < l->inner; ++i) at.push_back(l->offset_of(o, i, index));
  take_elements(node, 0, 0, at);
  return ok();
}

Result<Work> compress_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  const Result<Lines> l = compress_lines(node);
  if (!l) return l.errors();
  MemoryOp op;
  read_part(node, 0, output_size(node, 0), l->inner, op.inputs);
  write_output(node, 0, op.outputs);
  return Work{std::move(op)};
}

}  // namespace accsim::sim
