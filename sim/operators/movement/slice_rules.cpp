#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sim/operators/fold.h"
#include "sim/operators/movement/box_rules.h"
#include "sim/operators/movement/movement_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

/// Slice's lists, from attributes before opset 10 and from inputs since. Absent ones are nullopt.
Result<std::optional<std::vector<int64_t>>> list_of(const NodeView& node, size_t i,
                                                    const char* name) {
  using List = std::optional<std::vector<int64_t>>;
  if (node.opset() < 10) return List(node.attr_ints(name));
  if (!node.has_input(i)) return List();
  Result<std::vector<int64_t>> list = need_integers(node, i, name, "the output shape");
  if (!list) return list.errors();
  return List(std::move(*list));
}

void cut_axis(Box& box, size_t axis, int64_t start, int64_t end, int64_t step) {
  const int64_t size = box.dims[axis];
  // Counting from the end first, then into the range that the direction allows.
  if (start < 0) start += size;
  if (end < 0) end += size;
  int64_t length = 0;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, size);
    end = std::clamp<int64_t>(end, 0, size);
    if (end > start) length = (end - start - 1) / step + 1;
  } else if (size > 0) {
    start = std::clamp<int64_t>(start, 0, size - 1);
    end = std::clamp<int64_t>(end, -1, size - 1);
    step = std::max(step, -std::numeric_limits<int64_t>::max());
    if (start > end) length = (start - end - 1) / -step + 1;
  }
  box.start[axis] = length > 0 ? start : 0;
  box.step[axis] = length > 1 ? step : 1;
  box.dims[axis] = length;
}

}  // namespace

Result<Box> sliced_box(const NodeView& node) {
  const auto starts = list_of(node, 1, "starts"), ends = list_of(node, 2, "ends"),
             axes = list_of(node, 3, "axes"), steps = list_of(node, 4, "steps");
  for (const auto* list : {&starts, &ends, &axes, &steps})
    if (!*list) return list->errors();
  if (!*starts || !*ends || (*starts)->size() != (*ends)->size())
    return bad_node(node, "starts and ends must be given and be of one length");
  const size_t count = (*starts)->size();
  if ((*axes && (*axes)->size() != count) || (*steps && (*steps)->size() != count))
    return bad_node(node, "axes and steps must be as long as starts");
  if (!*axes && count > node.dims(0).size())
    return bad_node(node, "starts is longer than the input's rank");

  const size_t rank = node.dims(0).size();
  Box box{std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, 1), node.dims(0)};
  std::vector<bool> cut(rank, false);
  for (size_t i = 0; i < count; ++i) {
    const Result<int64_t> axis =
        *axes ? normalize_axis((**axes)[i], node.rank(0)) : static_cast<int64_t>(i);
    if (!axis) return bad_node(node, axis.errors().front().message);
    const auto a = static_cast<size_t>(*axis);
    const int64_t step = *steps ? (**steps)[i] : 1;
    if (step == 0) return bad_node(node, "a step is 0");
    if (cut[a]) return bad_node(node, fmt::format("axis {} is given twice", a));
    cut[a] = true;
    cut_axis(box, a, (**starts)[i], (**ends)[i], step);
  }
  return box;
}

std::vector<BoxAxis> box_axes(const Dims& dims, const Strides& in, const Strides& out) {
  std::vector<BoxAxis> axes;
  for (size_t i = 0; i < dims.size(); ++i) axes.push_back({dims[i], in[i], out[i]});
  return axes;
}

namespace {

/// The move of a box of input 0 to an output, as they lie in memory.
MemoryOp cut_out(const NodeView& node, const Box& box, int output) {
  const Dims dims = node.in_order(box.dims), step = node.in_order(box.step),
             start = node.in_order(box.start);
  Strides in = row_major(node.in_order(node.dims(0)));
  int64_t from = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    from += in[i] * start[i];
    in[i] *= step[i];
  }
  return box_move(box_axes(dims, in, row_major(dims)), 0, output, from, 0);
}

std::vector<int64_t> box_offsets(const Dims& dims, const Box& box) {
  Strides strides = row_major(dims);
  int64_t base = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    base += strides[i] * box.start[i];
    strides[i] *= box.step[i];
  }
  return strided_offsets(box.dims, strides, base);
}

}  // namespace

Result<std::vector<Box>> split_boxes(const NodeView& node) {
  const Result<int64_t> axis = axis_attr(node, 0, node.rank(0));
  if (!axis) return axis.errors();
  const Dims& dims = node.dims(0);
  const auto a = static_cast<size_t>(*axis);
  const auto parts = static_cast<int64_t>(node.output_count());
  if (parts == 0) return bad_node(node, "it has no outputs");
  std::vector<int64_t> sizes;
  bool all_named = true;
  if (node.has_input(1)) {
    Result<std::vector<int64_t>> given = need_integers(node, 1, "split", "the output shapes");
    if (!given) return given.errors();
    sizes = std::move(*given);
  } else if (const auto given = node.attr_ints("split")) {
    sizes = *given;
  } else {
    // num_outputs (opset 18) allows a smaller last part; before, the parts had to be equal. Of more
    // parts than outputs the last ones have no name.
    const int64_t all = int_attr(node, "num_outputs", parts);
    if (all < parts)
      return bad_node(node, fmt::format("num_outputs is {} but it has {} outputs", all, parts));
    const int64_t part = dims[a] / all + (dims[a] % all != 0);
    const std::optional<int64_t> before_last = size_product(part, all - 1);
    if (!before_last || *before_last > dims[a] || (node.opset() < 18 && dims[a] % all != 0))
      return bad_node(node,
                      fmt::format("dim {} of {} can't be split into {} parts", a, dims[a], all));
    sizes.assign(static_cast<size_t>(parts), part);
    if (all == parts) sizes.back() = dims[a] - *before_last;
    all_named = all == parts;
  }
  if (sizes.size() != node.output_count())
    return bad_node(node, fmt::format("{} parts are given for {} outputs", sizes.size(), parts));

  std::vector<Box> boxes;
  int64_t start = 0;
  for (const int64_t size : sizes) {
    if (size < 0 || size > dims[a] - start)
      return bad_node(node, fmt::format("the parts don't add up to dim {} of {}", a, dims[a]));
    Box box{std::vector<int64_t>(dims.size(), 0), std::vector<int64_t>(dims.size(), 1), dims};
    box.start[a] = start;
    box.dims[a] = size;
    boxes.push_back(std::move(box));
    start += size;
  }
  if (all_named && start != dims[a])
    return bad_node(node, fmt::format("the parts don't add up to dim {} of {}", a, dims[a]));
  return boxes;
}

namespace {

/// The elements of one of Slice's lists; nullopt: only data knows them.
std::optional<std::vector<int64_t>> known_list(const NodeView& node, size_t i) {
  if (node.value(i) == nullptr) return std::nullopt;
  return node.value(i)->integers();
}

/// The places that an axis can be cut at where only data knows some of them: at most so many.
int64_t most_of_axis(int64_t size, const std::optional<int64_t>& start,
                     const std::optional<int64_t>& end, int64_t step) {
  Box box{{0}, {1}, {size}};
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max();
  const int64_t first = step > 0 ? 0 : kFar, last = step > 0 ? kFar : -kFar;
  cut_axis(box, 0, start.value_or(first), end.value_or(last), step);
  return box.dims[0];
}

/// Is it a Slice along known axes, between places of which only data knows some?
bool is_cut_by_data(const NodeView& node) {
  if (node.opset() < 10 || !node.has_input(1) || !node.has_input(2)) return false;
  for (const size_t i : {size_t{1}, size_t{2}})
    if (!holds_integers(node.dtype(i)) || node.dims(i) != node.dims(1) || node.rank(i) != 1)
      return false;
  for (const size_t i : {size_t{3}, size_t{4}})
    if (node.has_input(i) &&
        (node.dims(i) != node.dims(1) || node.value(i) == nullptr || !node.value(i)->is_integer()))
      return false;
  const auto is_known = [&](size_t i) { return node.value(i) != nullptr; };
  const auto is_of_run = [&](size_t i) { return !is_known(i) && !node.input(i).constant; };
  return (is_known(1) && is_of_run(2)) || (is_of_run(1) && (is_known(2) || is_of_run(2)));
}

/// The sizes that are cut out: each one that only data knows is assumed, at most what is there.
Result<Dims> assumed_cut(InferContext& node) {
  const auto starts = known_list(node, 1), ends = known_list(node, 2);
  Dims dims = node.dims(0);
  const auto count = static_cast<size_t>(node.dims(1)[0]);
  if (!node.has_input(3) && count > dims.size())
    return bad_node(node, "starts is longer than the input's rank");
  std::vector<bool> cut(dims.size(), false);
  for (size_t i = 0; i < count; ++i) {
    const Result<int64_t> axis = node.has_input(3)
                                     ? normalize_axis(node.value(3)->integers()[i], node.rank(0))
                                     : static_cast<int64_t>(i);
    if (!axis) return bad_node(node, axis.errors().front().message);
    const auto a = static_cast<size_t>(*axis);
    const int64_t step = node.has_input(4) ? node.value(4)->integers()[i] : 1;
    if (step == 0) return bad_node(node, "a step is 0");
    if (cut[a]) return bad_node(node, fmt::format("axis {} is given twice", a));
    cut[a] = true;
    const auto at = [i](const auto& list) {
      return list ? std::optional((*list)[i]) : std::nullopt;
    };
    const int64_t most = most_of_axis(dims[a], at(starts), at(ends), step);
    const Result<int64_t> size = node.assumed_size("elements that are cut out", most);
    if (!size) return size.errors();
    dims[a] = *size;
  }
  return dims;
}

/// Rows of the innermost axis from places that only data knows.
MemoryOp cut_by_data(const NodeView& node) {
  const Dims& dims = node.output(0).dims;
  MemoryOp op;
  read_part(node, 0, elements(dims), dims.empty() ? 1 : dims.back(), op.inputs);
  write_output(node, 0, op.outputs);
  return op;
}

}  // namespace

Status slice_shape(InferContext& node) {
  if (is_cut_by_data(node)) {
    Result<Dims> dims = assumed_cut(node);
    if (!dims) return dims.errors();
    return set_shape(node, 0, node.dtype(0), std::move(*dims));
  }
  Result<Box> box = sliced_box(node);
  if (!box) return box.errors();
  return set_shape(node, 0, node.dtype(0), std::move(box->dims));
}

Status slice_value(InferContext& node) {
  if (!can_fold(node)) return ok();
  const Result<Box> box = sliced_box(node);
  if (!box) return box.errors();
  take_elements(node, 0, 0, box_offsets(node.dims(0), *box));
  return ok();
}

Result<Work> slice_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  if (is_cut_by_data(node)) return Work{cut_by_data(node)};
  const Result<Box> box = sliced_box(node);
  if (!box) return box.errors();
  const bool whole = box->dims == node.dims(0) &&
                     std::ranges::all_of(box->step, [](int64_t step) { return step == 1; });
  if (whole) return Work{};
  return Work{cut_out(node, *box, 0)};
}

Status split_shape(InferContext& node) {
  const Result<std::vector<Box>> boxes = split_boxes(node);
  if (!boxes) return boxes.errors();
  for (size_t i = 0; i < boxes->size(); ++i)
    if (Status s = set_shape(node, i, node.dtype(0), (*boxes)[i].dims); !s) return s;
  return ok();
}

Status split_value(InferContext& node) {
  if (node.value(0) == nullptr) return ok();
  const Result<std::vector<Box>> boxes = split_boxes(node);
  if (!boxes) return boxes.errors();
  for (size_t i = 0; i < boxes->size(); ++i)
    if (node.has_output(i)) take_elements(node, i, 0, box_offsets(node.dims(0), (*boxes)[i]));
  return ok();
}

Result<Work> split_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  const Result<std::vector<Box>> boxes = split_boxes(node);
  if (!boxes) return boxes.errors();
  if (boxes->size() == 1) return Work{};
  Work out;
  for (size_t i = 0; i < boxes->size(); ++i)
    if (node.has_output(i) && elements((*boxes)[i].dims) > 0)
      out.push_back(cut_out(node, (*boxes)[i], static_cast<int>(i)));
  return out;
}

}  // namespace accsim::sim
