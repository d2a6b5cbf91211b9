#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/operators/op_table.h"
#include "sim/operators/pool/pool_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

/// floor(in * scale) in single precision, as the runtimes compute it; nullopt when out of range.
std::optional<int64_t> scaled_extent(int64_t in, double scale) {
  const float product = static_cast<float>(in) * static_cast<float>(scale);
  if (!(scale > 0) || !(product < 4e18F)) return std::nullopt;
  return static_cast<int64_t>(std::floor(product));
}

/// The axes that scales or sizes speak of: all, or attribute "axes" (opset 18) in its own order.
Result<std::vector<size_t>> resize_axes(const NodeView& node) {
  std::vector<size_t> axes(static_cast<size_t>(node.rank(0)));
  std::iota(axes.begin(), axes.end(), size_t{0});
  const auto stated = node.attr_ints("axes");
  if (!stated || node.opset() < 18) return axes;
  axes.clear();
  for (int64_t a : *stated) {
    const Result<int64_t> axis = normalize_axis(a, node.rank(0));
    if (!axis) return bad_node(node, axis.errors().front().message);
    if (std::count(axes.begin(), axes.end(), static_cast<size_t>(*axis)) > 0)
      return bad_node(node, fmt::format("axis {} is named twice", a));
    axes.push_back(static_cast<size_t>(*axis));
  }
  return axes;
}

/// Dims after scaling `axes`. What tf_crop_and_resize keeps of them has that size too: so runtimes
/// do it, where the standard's text has the size of what is kept.
Result<Dims> by_scales(const NodeView& node, const std::vector<size_t>& axes,
                       const std::vector<double>& scales) {
  Dims out = node.dims(0);
  if (scales.size() != axes.size())
    return bad_node(node, fmt::format("{} scales for {} axes", scales.size(), axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    const std::optional<int64_t> extent = scaled_extent(out[axes[i]], scales[i]);
    if (!extent)
      return bad_node(node, fmt::format("scale {} of axis {} is no use", scales[i], axes[i]));
    out[axes[i]] = *extent;
  }
  return out;
}

Result<Dims> by_sizes(const NodeView& node, const std::vector<size_t>& axes,
                      const std::vector<int64_t>& sizes) {
  Dims out = node.dims(0);
  if (sizes.size() != axes.size())
    return bad_node(node, fmt::format("{} sizes for {} axes", sizes.size(), axes.size()));
  const std::string policy = node.attr("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller")
    return bad_node(node, fmt::format("attribute 'keep_aspect_ratio_policy' is '{}', not stretch, "
                                      "not_larger or not_smaller",
                                      policy));
  const bool stretch = policy == "stretch" || node.opset() < 18;
  double scale = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (sizes[i] < 0) return bad_node(node, fmt::format("size {} is negative", sizes[i]));
    if (stretch) continue;
    if (out[axes[i]] == 0) return bad_node(node, "an empty dim has no aspect ratio to keep");
    const double own = static_cast<double>(sizes[i]) / static_cast<double>(out[axes[i]]);
    scale = i == 0 ? own : policy == "not_larger" ? std::min(scale, own) : std::max(scale, own);
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t& dim = out[axes[i]];
    const double kept = std::floor(scale * static_cast<double>(dim) + 0.5);
    if (!stretch && kept > 4e18) return bad_node(node, "a size is out of range");
    dim = stretch ? sizes[i] : static_cast<int64_t>(kept);
  }
  return out;
}

Result<Dims> resize_dims(const NodeView& node) {
  const Result<std::vector<size_t>> axes = resize_axes(node);
  if (!axes) return axes.errors();
  const size_t scales_at = node.opset() < 11 ? 1 : 2;
  const bool sizes = scales_at == 2 && input_size(node, 3) > 0;
  const bool scales = input_size(node, scales_at) > 0;
  if (sizes == scales)
    return bad_node(node, sizes ? "has both scales and sizes" : "has neither scales nor sizes");
  if (sizes) {
    const auto wanted = need_integers(node, 3, "sizes", "the output shape");
    if (!wanted) return wanted.errors();
    return by_sizes(node, *axes, *wanted);
  }
  const auto factors = resize_scales(node);
  if (!factors) return factors.errors();
  return by_scales(node, *axes, *factors);
}

enum class Kernel { nearest, linear, cubic };

Result<Kernel> kernel_of(const NodeView& node, const char* fallback) {
  const std::string mode = node.attr("mode", fallback);
  if (mode == "nearest") return Kernel::nearest;
  if (mode == "linear" || mode == "bilinear") return Kernel::linear;
  if (mode == "cubic" || mode == "bicubic") return Kernel::cubic;
  return bad_node(node,
                  fmt::format("attribute 'mode' is '{}', not nearest, linear or cubic", mode));
}

int64_t taps_per_axis(Kernel kernel) {
  return kernel == Kernel::nearest ? 1 : kernel == Kernel::linear ? 2 : 4;
}

}  // namespace

Status resize_rule(InferContext& node) {
  if (const auto mode = kernel_of(node, "nearest"); !mode) return mode.errors();
  Result<Dims> out = resize_dims(node);
  if (!out) return out.errors();
  return set_shape(node, 0, node.dtype(0), std::move(*out));
}

bool chooses_places(const NodeView& node) {
  const OpRow* row = find_op(node.node());
  return row && row->has_attribute("nearest_mode") && node.opset() >= 11;
}

Result<std::vector<double>> resize_scales(const NodeView& node) {
  if (node.opset() >= 9 || node.has_input(1))
    return need_reals(node, chooses_places(node) ? 2 : 1, "scales", "the output shape");
  const Attribute* attribute = node.find_attribute("scales");
  const auto* list = attribute ? std::get_if<std::vector<double>>(&attribute->value) : nullptr;
  if (list == nullptr) return bad_node(node, "attribute 'scales' is missing");
  return *list;
}

Status upsample_rule(InferContext& node) {
  if (const auto mode = kernel_of(node, "nearest"); !mode) return mode.errors();
  const Result<std::vector<double>> scales = resize_scales(node);
  if (!scales) return scales.errors();
  std::vector<size_t> axes(static_cast<size_t>(node.rank(0)));
  std::iota(axes.begin(), axes.end(), size_t{0});
  Result<Dims> out = by_scales(node, axes, *scales);
  if (!out) return out.errors();
  return set_shape(node, 0, node.dtype(0), std::move(*out));
}

Result<Work> resize_cost(const NodeView& node) {
  const Result<Kernel> kernel = kernel_of(node, "nearest");
  if (!kernel) return kernel.errors();
  const Dims &in = node.dims(0), &out = node.output(0).dims;
  const bool antialias = int_attr(node, "antialias", 0) != 0 && *kernel != Kernel::nearest;
  int64_t taps = 1;
  for (size_t d = 0; d < in.size(); ++d) {
    if (in[d] == out[d]) continue;
    int64_t along = taps_per_axis(*kernel);
    // Antialiasing stretches the filter over every input element that an output covers.
    if (antialias && out[d] > 0 && in[d] > out[d])
      along = ceil_div(capped_product({along, in[d]}), out[d]);
    taps = capped_product({taps, along});
  }
  VectorOp op;
  read_input(node, 0, op.inputs);
  write_output(node, 0, op.outputs);
  op[VectorClass::resize] = capped_product({output_size(node, 0), taps});
  return checked_work(node, {op});
}

Status grid_sample_rule(InferContext& node) {
  if (const auto mode = kernel_of(node, "linear"); !mode) return mode.errors();
  if (Status s = want_rank_from(node, 0, 3); !s) return s;
  const Dims &x = node.dims(0), &grid = node.dims(1);
  if (grid.size() != x.size() || grid[0] != x[0] ||
      grid.back() != static_cast<int64_t>(x.size()) - 2)
    return bad_node(node,
                    fmt::format("grid {} doesn't go with input {}", to_string(grid), to_string(x)));
  Dims out{x[0], x[1]};
  out.insert(out.end(), grid.begin() + 1, grid.end() - 1);
  return set_shape(node, 0, node.dtype(0), std::move(out));
}

Result<Work> grid_sample_cost(const NodeView& node) {
  const Result<Kernel> kernel = kernel_of(node, "linear");
  if (!kernel) return kernel.errors();
  int64_t taps = 1;
  for (int64_t d = 2; d < node.rank(0); ++d) taps = capped_product({taps, taps_per_axis(*kernel)});
  VectorOp op = vector_op(node);
  op[VectorClass::resize] = capped_product({output_size(node, 0), taps});
  return checked_work(node, {op});
}

Status affine_grid_rule(InferContext& node) {
  const auto size = need_integers(node, 1, "size", "the output shape");
  if (!size) return size.errors();
  const auto spatial = static_cast<int64_t>(size->size()) - 2;
  if ((spatial != 2 && spatial != 3) || node.dims(0) != Dims{(*size)[0], spatial, spatial + 1})
    return bad_node(node, fmt::format("theta {} doesn't go with size {}", to_string(node.dims(0)),
                                      to_string(*size)));
  Dims out{(*size)[0]};
  out.insert(out.end(), size->begin() + 2, size->end());
  out.push_back(spatial);
  return set_shape(node, 0, node.dtype(0), std::move(out));
}

Result<Work> affine_grid_cost(const NodeView& node) {
  // Each coordinate is a row of theta times (x, y[, z], 1): as many products as sums.
  VectorOp op;
  read_input(node, 0, op.inputs);
  write_output(node, 0, op.outputs);
  op[VectorClass::elementwise] =
      capped_product({2, output_size(node, 0), node.output(0).dims.back()});
  return checked_work(node, {op});
}

}  // namespace accsim::sim
