#pragma once
#include "sim/operators/conv/sliding_window.h"
#include "sim/operators/node_view.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// The window that a pooling slides over input 0.
Result<SlidingWindow> pool_window(const NodeView& node, bool channels_last);
/// Windows over input 0; MaxPool's second output too. `channels_last`: N, spatial, C.
Status pool_outputs(InferContext& node, bool channels_last);
/// One operation per window element.
Result<Work> pool_work(const NodeView& node, bool channels_last);
/// GlobalAveragePool and its kin: N x C with all spatial dims 1.
Status global_pool_rule(InferContext& node);
/// One operation an input element.
Result<Work> global_pool_cost(const NodeView& node);

// Regions of interest and unpooling.
/// MaxUnpool: the shape that its kernel, strides and pads undo, or that of input 2, which must
/// be known.
Status max_unpool_rule(InferContext& node);
/// MaxRoiPool: a map of pooled_shape for every region and channel.
Status max_roi_pool_rule(InferContext& node);
/// How large a region is depends on data: the whole map for each bounds it.
Result<Work> max_roi_pool_cost(const NodeView& node);
/// RoiAlign: a map of output_height x output_width for every region and channel.
Status roi_align_rule(InferContext& node);
/// Four taps and one pooled value a sample; 2 x 2 samples an element when sampling_ratio is 0.
Result<Work> roi_align_cost(const NodeView& node);

// Interpolation.
/// Resize: sizes, or floor(dim * scale), which must be known; axes and aspect policy as
/// attributes say.
Status resize_rule(InferContext& node);
/// So many taps an element as the filter has along the axes that change; antialiasing widens
/// it.
Result<Work> resize_cost(const NodeView& node);
/// Do attributes say where elements come from? Else, of Upsample and Resize of opset 10, places are
/// asymmetric, and rounded down.
bool chooses_places(const NodeView& node);
/// The scales of a Resize that has them or of an Upsample; an error when they aren't known.
Result<std::vector<double>> resize_scales(const NodeView& node);
/// Upsample: floor(dim * scale), scales from attribute or input 1.
Status upsample_rule(InferContext& node);
/// GridSample: N x C of input 0 with the grid's spatial dims.
Status grid_sample_rule(InferContext& node);
/// So many taps an element as the interpolation has.
Result<Work> grid_sample_cost(const NodeView& node);
/// AffineGrid: the sampling grid of `size` (input 1, known), coordinates innermost.
Status affine_grid_rule(InferContext& node);
/// A product and a sum a coordinate and column of theta.
Result<Work> affine_grid_cost(const NodeView& node);

}  // namespace accsim::sim
