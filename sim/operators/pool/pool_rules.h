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
Status global_pool_rule(InferContext& node);
Result<Work> global_pool_cost(const NodeView& node);

// Regions of interest and unpooling.
Status max_unpool_rule(InferContext& node);
Status max_roi_pool_rule(InferContext& node);
Result<Work> max_roi_pool_cost(const NodeView& node);
Status roi_align_rule(InferContext& node);
Result<Work> roi_align_cost(const NodeView& node);

// Interpolation.
Status resize_rule(InferContext& node);
Result<Work> resize_cost(const NodeView& node);
Status upsample_rule(InferContext& node);
Status grid_sample_rule(InferContext& node);
Result<Work> grid_sample_cost(const NodeView& node);
Status affine_grid_rule(InferContext& node);
Result<Work> affine_grid_cost(const NodeView& node);

}  // namespace accsim::sim
