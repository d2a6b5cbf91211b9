#include <fmt/format.h>

#include "sim/operators/conv/sliding_window.h"
#include "sim/operators/op_table.h"
#include "sim/operators/pool/pool_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {

Result<SlidingWindow> pool_window(const NodeView& node, bool channels_last) {
  const Dims& x = node.dims(0);
  const size_t rank = x.size() < 3 ? 0 : x.size() - 2;
  if (Status s = want_spatial(node, rank); !s) return s.errors();
  const Result<Dims> kernel = kernel_shape(node, rank);
  if (!kernel) return kernel.errors();
  const auto first = x.begin() + (channels_last ? 1 : 2);
  const Dims spatial(first, first + static_cast<ptrdiff_t>(rank));
  return slide_window(node, spatial, *kernel, int_attr(node, "ceil_mode", 0) != 0);
}

namespace {

Status pool_rule(InferContext& node) { return pool_outputs(node, false); }
Result<Work> pool_cost(const NodeView& node) { return pool_work(node, false); }

/// Where the maxima are is found once they are: each window element is compared with its maximum,
/// and an index is selected.
Result<Work> max_pool_cost(const NodeView& node) {
  Result<Work> work = pool_work(node, false);
  if (!work || !node.has_output(1)) return work;
  auto& maxima = std::get<VectorOp>(work->front());
  VectorOp indices;
  read_input(node, 0, indices.inputs);
  write_output(node, 1, indices.outputs);
  indices[VectorClass::pool] = maxima[VectorClass::pool];
  indices[VectorClass::elementwise] = output_size(node, 1);
  std::erase_if(maxima.outputs, [](const Access& a) { return a.port == 1; });
  work->push_back(std::move(indices));
  return work;
}

/// p-th powers are elementwise, the root is special.
Result<Work> with_powers(const NodeView& node, Result<Work> work) {
  if (!work) return work;
  auto& op = std::get<VectorOp>(work->front());
  op[VectorClass::elementwise] = op[VectorClass::pool];
  op[VectorClass::special] = output_size(node, 0);
  return work;
}

Result<Work> lp_pool_cost(const NodeView& node) {
  return with_powers(node, pool_work(node, false));
}

Result<Work> global_lp_pool_cost(const NodeView& node) {
  return with_powers(node, global_pool_cost(node));
}

}  // namespace

Status pool_outputs(InferContext& node, bool channels_last) {
  const Result<SlidingWindow> window = pool_window(node, channels_last);
  if (!window) return window.errors();
  Dims out = node.dims(0);
  const Dims spatial = window->out_dims();
  std::copy(spatial.begin(), spatial.end(), out.begin() + (channels_last ? 1 : 2));
  if (Status s = set_shape(node, 0, node.dtype(0), out); !s) return s;
  return set_if_wanted(node, 1, DType::int64, out);
}

Result<Work> pool_work(const NodeView& node, bool channels_last) {
  const Result<SlidingWindow> window = pool_window(node, channels_last);
  if (!window) return window.errors();
  VectorOp op = vector_op(node);
  op[VectorClass::pool] = capped_product({output_size(node, 0), window->tap_count()});
  return checked_work(node, {op});
}

Status global_pool_rule(InferContext& node) {
  if (Status s = want_rank_from(node, 0, 2); !s) return s;
  Dims out = node.dims(0);
  std::fill(out.begin() + 2, out.end(), 1);
  return set_shape(node, 0, node.dtype(0), std::move(out));
}

Result<Work> global_pool_cost(const NodeView& node) {
  VectorOp op = vector_op(node);
  op[VectorClass::pool] = input_size(node, 0);
  return checked_work(node, {op});
}

namespace {

constexpr OpRow kPoolOperators[] = {
    {.name = "MaxPool",
     .attributes = {"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "storage_order",
                    "strides"},
     .shape = pool_rule,
     .cost = max_pool_cost,
     .kind = OpKind::pooling,
     .beyond = Beyond::least,
     .lane = LaneRule::pool_max,
     .lie = LayoutRule::channels_last},
    {.name = "AveragePool",
     .attributes = {"auto_pad", "ceil_mode", "count_include_pad", "dilations", "kernel_shape",
                    "pads", "strides"},
     .shape = pool_rule,
     .cost = pool_cost,
     .kind = OpKind::pooling,
     .beyond = Beyond::counted,
     .lane = LaneRule::pool_mean,
     .lie = LayoutRule::channels_last},
    {.name = "LpPool",
     .attributes = {"auto_pad", "ceil_mode", "dilations", "kernel_shape", "p", "pads", "strides"},
     .shape = pool_rule,
     .cost = lp_pool_cost,
     .kind = OpKind::pooling,
     .lie = LayoutRule::channels_last},
    {.name = "GlobalAveragePool",
     .shape = global_pool_rule,
     .cost = global_pool_cost,
     .kind = OpKind::pooling,
     .lane = LaneRule::reduce_mean,
     .lie = LayoutRule::channels_last},
    {.name = "GlobalMaxPool",
     .shape = global_pool_rule,
     .cost = global_pool_cost,
     .kind = OpKind::pooling,
     .lane = LaneRule::reduce_max,
     .lie = LayoutRule::channels_last},
    {.name = "GlobalLpPool",
     .attributes = {"p"},
     .shape = global_pool_rule,
     .cost = global_lp_pool_cost,
     .kind = OpKind::pooling,
     .lie = LayoutRule::channels_last},
    {.name = "MaxUnpool",
     .since = 9,
     .ports = {{"X"}, {"I"}, {"output_shape", PortRole::setting}},
     .min_inputs = 2,
     .attributes = {"kernel_shape", "pads", "strides"},
     .fate = Fate::memory,
     .shape = max_unpool_rule,
     .cost = copy_cost,
     .lie = LayoutRule::channels_last},
    {.name = "MaxRoiPool",
     .ports = {{"X"}, {"rois"}},
     .attributes = {"pooled_shape", "spatial_scale"},
     .shape = max_roi_pool_rule,
     .cost = max_roi_pool_cost,
     .lie = LayoutRule::image},
    {.name = "RoiAlign",
     .since = 10,
     .ports = {{"X"}, {"rois"}, {"batch_indices"}},
     .attributes = {"coordinate_transformation_mode", "mode", "output_height", "output_width",
                    "sampling_ratio", "spatial_scale"},
     .shape = roi_align_rule,
     .cost = roi_align_cost,
     .lie = LayoutRule::image},
    {.name = "Resize",
     .since = 10,
     .ports = {{"X"},
               {"roi", PortRole::setting},
               {"scales", PortRole::setting},
               {"sizes", PortRole::setting}},
     .min_inputs = 1,
     .attributes = {"antialias", "axes", "coordinate_transformation_mode", "cubic_coeff_a",
                    "exclude_outside", "extrapolation_value", "keep_aspect_ratio_policy", "mode",
                    "nearest_mode"},
     .shape = resize_rule,
     .cost = resize_cost,
     .lane = LaneRule::nearest,
     .lie = LayoutRule::channels_last},
    {.name = "Upsample",
     .since = 7,
     .ports = {{"X"}, {"scales", PortRole::setting}},
     .min_inputs = 1,
     .attributes = {"mode", "scales"},
     .shape = upsample_rule,
     .cost = resize_cost,
     .lane = LaneRule::nearest,
     .lie = LayoutRule::channels_last},
    {.name = "GridSample",
     .since = 16,
     .ports = {{"X"}, {"grid"}},
     .attributes = {"align_corners", "mode", "padding_mode"},
     .shape = grid_sample_rule,
     .cost = grid_sample_cost,
     .lie = LayoutRule::image},
    {.name = "AffineGrid",
     .since = 20,
     .ports = {{"theta"}, {"size", PortRole::setting}},
     .attributes = {"align_corners"},
     .shape = affine_grid_rule,
     .cost = affine_grid_cost},
};

}  // namespace

std::span<const OpRow> pool_rows() { return kPoolOperators; }

}  // namespace accsim::sim
