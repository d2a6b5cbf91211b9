#include <fmt/format.h>

#include <algorithm>

#include "sim/operators/fold.h"
#include "sim/operators/movement/box_rules.h"
#include "sim/operators/movement/movement_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

/// Pad's list: attribute "pads" (opset 2, "paddings" in 1), an input since opset 11.
Result<std::vector<int64_t>> pad_list(const NodeView& node) {
  if (node.opset() >= 11 || node.has_input(1))
    return need_integers(node, 1, "pads", "the output shape");
  std::optional<std::vector<int64_t>> pads = node.attr_ints("pads");
  if (!pads) pads = node.attr_ints("paddings");
  if (!pads) return bad_node(node, "attribute 'pads' is missing");
  return *pads;
}

/// Axes from input i as given, each once; all axes when it is absent.
Result<std::vector<int64_t>> axis_list(const NodeView& node,
                                       const std::optional<std::vector<int64_t>>& given) {
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < node.rank(0); ++i) axes.push_back(i);
  if (!given) return axes;
  const Result<std::vector<int64_t>> sorted = normalize_axes(*given, node.rank(0));
  if (!sorted) return bad_node(node, sorted.errors().front().message);
  axes = *given;
  for (int64_t& axis : axes)
    if (axis < 0) axis += node.rank(0);
  return axes;
}

}  // namespace

Result<Padding> padding_of(const NodeView& node) {
  const Result<std::vector<int64_t>> pads = pad_list(node);
  if (!pads) return pads.errors();
  std::optional<std::vector<int64_t>> given;
  if (node.has_input(3)) {
    Result<std::vector<int64_t>> listed = need_integers(node, 3, "axes", "the output shape");
    if (!listed) return listed.errors();
    given = std::move(*listed);
  }
  const Result<std::vector<int64_t>> axes = axis_list(node, given);
  if (!axes) return axes.errors();
  const size_t count = axes->size(), rank = node.dims(0).size();
  if (pads->size() != 2 * count)
    return bad_node(
        node, fmt::format("{} pads are given for {} axes, not {}", pads->size(), count, 2 * count));
  Padding p{std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, 0)};
  for (const int64_t pad : *pads)
    if (!size_sum(pad, 0)) return bad_node(node, fmt::format("a pad is {}", pad));
  for (size_t i = 0; i < count; ++i) {
    p.before[static_cast<size_t>((*axes)[i])] = (*pads)[i];
    p.after[static_cast<size_t>((*axes)[i])] = (*pads)[i + count];
  }
  return p;
}

int64_t pad_source(const std::string& mode, int64_t i, int64_t size, int64_t before,
                   int64_t after) {
  // What is cropped is gone before anything is repeated.
  const int64_t first = std::max<int64_t>(0, -before);
  const int64_t kept = size - first - std::max<int64_t>(0, -after);
  const int64_t at = i - std::max<int64_t>(0, before);
  if (at >= 0 && at < kept) return first + at;
  if (mode == "constant" || kept <= 0) return -1;
  if (mode == "edge") return first + std::clamp<int64_t>(at, 0, kept - 1);
  const int64_t period = mode == "wrap" ? kept : std::max<int64_t>(2 * (kept - 1), 1);
  const int64_t within = (at % period + period) % period;
  return first + (within < kept ? within : period - within);
}

namespace {

/// Elements of input 0 that are still in the output.
int64_t kept_elements(const Dims& dims, const Padding& p) {
  int64_t kept = 1;
  for (size_t i = 0; i < dims.size(); ++i)
    kept *= std::max<int64_t>(
        0, dims[i] + std::min<int64_t>(p.before[i], 0) + std::min<int64_t>(p.after[i], 0));
  return kept;
}

Result<Dims> cropped_dims(const NodeView& node) {
  const Result<std::vector<int64_t>> shape = need_integers(node, 1, "shape", "the output shape");
  if (!shape) return shape.errors();
  const Result<std::vector<int64_t>> axes = axis_list(node, node.attr_ints("axes"));
  if (!axes) return axes.errors();
  if (axes->size() != shape->size())
    return bad_node(node,
                    fmt::format("{} sizes are given for {} axes", shape->size(), axes->size()));
  Dims dims = node.dims(0);
  for (size_t i = 0; i < axes->size(); ++i) dims[static_cast<size_t>((*axes)[i])] = (*shape)[i];
  return dims;
}

}  // namespace

Status pad_shape(InferContext& node) {
  const std::string mode = node.attr("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    return bad_node(node, fmt::format("mode '{}' is none of constant, reflect, edge, wrap", mode));
  if (node.has_input(2) && elements(node.dims(2)) > 1)
    return bad_node(node, "constant_value must be a scalar");
  const Result<Padding> p = padding_of(node);
  if (!p) return p.errors();
  Dims dims = node.dims(0);
  for (size_t i = 0; i < dims.size(); ++i) {
    const std::optional<int64_t> both = size_sum(p->before[i], p->after[i]);
    const std::optional<int64_t> size = both ? size_sum(dims[i], *both) : std::nullopt;
    if (!size) return bad_node(node, fmt::format("the pads of axis {} are too large", i));
    dims[i] = *size;
  }
  return set_shape(node, 0, node.dtype(0), std::move(dims));
}

Status pad_value(InferContext& node) {
  if (!can_fold(node)) return ok();
  const Result<Padding> p = padding_of(node);
  if (!p) return p.errors();
  if (node.has_input(2) && node.dtype(2) != node.dtype(0)) return ok();
  const ConstData stated(std::vector<double>{round_to(node.dtype(0), real_attr(node, "value", 0))});
  const bool by_attribute = !node.has_input(2) && is_float(node.dtype(0));
  const std::string mode = node.attr("mode", "constant");
  const Dims &from = node.dims(0), &to = node.output(0).dims;
  const Strides strides = row_major(from);
  std::vector<int64_t> at(static_cast<size_t>(elements(to)), 0);
  // One axis after the other: each adds its part of the offset, or marks the element as padding.
  int64_t inner = 1;
  for (size_t axis = to.size(); axis-- > 0;) {
    for (size_t n = 0; n < at.size(); ++n) {
      const int64_t i = static_cast<int64_t>(n) / inner % to[axis];
      const int64_t s = pad_source(mode, i, from[axis], p->before[axis], p->after[axis]);
      at[n] = s < 0 || at[n] < 0 ? -1 : at[n] + s * strides[axis];
    }
    inner *= to[axis];
  }
  take_elements(node, 0, 0, at, by_attribute ? &stated : node.value(2));
  return ok();
}

Result<Work> pad_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  const Result<Padding> p = padding_of(node);
  if (!p) return p.errors();
  const auto zero = [](int64_t v) { return v == 0; };
  if (std::ranges::all_of(p->before, zero) && std::ranges::all_of(p->after, zero)) return Work{};
  MemoryOp op;
  read_part(node, 0, std::min(kept_elements(node.dims(0), *p), output_size(node, 0)), 0, op.inputs);
  write_output(node, 0, op.outputs);
  return Work{std::move(op)};
}

Status center_crop_pad_shape(InferContext& node) {
  Result<Dims> dims = cropped_dims(node);
  if (!dims) return dims.errors();
  return set_shape(node, 0, node.dtype(0), std::move(*dims));
}

Result<Work> center_crop_pad_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  if (!node.has_output(0) || node.output(0).dims == node.dims(0)) return Work{};
  Dims kept = node.dims(0);
  for (size_t i = 0; i < kept.size(); ++i) kept[i] = std::min(kept[i], node.output(0).dims[i]);
  MemoryOp op;
  read_part(node, 0, elements(kept), kept.empty() ? 1 : std::max<int64_t>(kept.back(), 1),
            op.inputs);
  write_output(node, 0, op.outputs);
  return Work{std::move(op)};
}

}  // namespace accsim::sim
