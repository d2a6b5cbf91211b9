#include "sim/operators/norm/row_rules.h"

#include <algorithm>

#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

/// May what an operator does with input 0 be all of it?
bool only_output(const NodeView& node) {
  for (size_t i = 1; i < node.output_count(); ++i)
    if (node.has_output(i)) return false;
  return node.has_output(0);
}

bool constants_from(const NodeView& node, size_t first) {
  for (size_t i = first; i < node.input_count(); ++i)
    if (node.has_input(i) && !node.input(i).constant) return false;
  return true;
}

/// From attribute axis on, each element a channel.
std::optional<RowMeaning> last_dims(const NodeView& node, RowKind kind) {
  const Result<int64_t> axis = axis_attr(node, -1, node.rank(0));
  if (!axis || !only_output(node) || !constants_from(node, 1)) return std::nullopt;
  const Dims& dims = node.dims(0);
  return row_meaning(kind, dims, static_cast<size_t>(*axis), dims.size(), true);
}

}  // namespace

RowMeaning row_meaning(RowKind kind, const Dims& dims, size_t first, size_t end, bool channels) {
  RowMeaning out;
  out.kind = kind;
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool reduced = i >= first && i < end;
    out.axes.push_back({.count = dims[i],
                        .stride = elements(dims, i + 1, dims.size()),
                        .reduced = reduced,
                        .channel = reduced && channels});
  }
  return out;
}

void add_mask(const Dims& mask, RowMeaning& to) {
  int64_t stride = 1;
  for (size_t i = 0; i < mask.size(); ++i) {
    const int64_t n = mask[mask.size() - 1 - i];
    to.axes[to.axes.size() - 1 - i].mask_stride = n == 1 ? 0 : stride;
    stride *= n;
  }
}

std::optional<RowMeaning> softmax_rows(const NodeView& node) {
  const bool flat = node.opset() < 13;
  const Dims& dims = node.dims(0);
  const Result<int64_t> axis = axis_attr(node, flat ? 1 : -1, node.rank(0));
  if (!axis) return std::nullopt;
  const auto first = static_cast<size_t>(*axis);
  RowMeaning out =
      row_meaning(RowKind::softmax, dims, first, flat ? dims.size() : first + 1, false);
  if (!flat && first == 1 && dims.size() > 2) out.channel_axes = 1;
  return out;
}

std::optional<RowMeaning> layer_norm_rows(const NodeView& node) {
  return last_dims(node, RowKind::layer_norm);
}

std::optional<RowMeaning> rms_norm_rows(const NodeView& node) {
  return last_dims(node, RowKind::rms_norm);
}

std::optional<RowMeaning> instance_norm_rows(const NodeView& node) {
  if (!constants_from(node, 1)) return std::nullopt;
  const Dims& dims = node.dims(0);
  RowMeaning out = row_meaning(RowKind::layer_norm, dims, 2, dims.size(), false);
  out.axes[1].channel = true;
  out.channel_axes = 1;
  return out;
}

std::optional<RowMeaning> group_norm_rows(const NodeView& node) {
  const int64_t groups = int_attr(node, "num_groups", 0);
  const Dims& dims = node.dims(0);
  if (!constants_from(node, 1) || groups < 1) return std::nullopt;
  Dims split = dims;
  split[1] = groups;
  split.insert(split.begin() + 2, dims[1] / groups);
  RowMeaning out = row_meaning(RowKind::layer_norm, split, 2, split.size(), false);
  out.axes[1].channel = out.axes[2].channel = true;
  out.channel_axes = 2;
  return out;
}

std::optional<RowMeaning> lp_norm_rows(const NodeView& node) {
  const Result<int64_t> axis = axis_attr(node, -1, node.rank(0));
  if (!axis || int_attr(node, "p", 2) != 2) return std::nullopt;
  const auto first = static_cast<size_t>(*axis);
  RowMeaning out = row_meaning(RowKind::rms_norm, node.dims(0), first, first + 1, false);
  out.unit_length = true;
  if (first == 1 && node.rank(0) > 2) out.channel_axes = 1;
  return out;
}

std::optional<RowMeaning> mvn_rows(const NodeView& node) {
  const auto axes = normalize_axes(node.attr("axes", std::vector<int64_t>{0, 2, 3}), node.rank(0));
  if (!axes) return std::nullopt;
  RowMeaning out = row_meaning(RowKind::layer_norm, node.dims(0), 0, 0, false);
  for (const int64_t a : *axes) out.axes[static_cast<size_t>(a)].reduced = true;
  if (node.rank(0) > 2) out.channel_axes = 1;
  return out;
}

}  // namespace accsim::sim
