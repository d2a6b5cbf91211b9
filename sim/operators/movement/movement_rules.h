#pragma once
#include "sim/operators/node_view.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// Rules of the operators that move elements, by file.

// slice_rules.cpp: boxes cut out of a tensor.
Status slice_shape(InferContext& node);
Status slice_value(InferContext& node);
Result<Work> slice_cost(const NodeView& node);
Status split_shape(InferContext& node);
Status split_value(InferContext& node);
Result<Work> split_cost(const NodeView& node);

// layout_rules.cpp: every element goes to another place, or to several.
Status concat_shape(InferContext& node);
Status concat_value(InferContext& node);
Result<Work> concat_cost(const NodeView& node);
Status transpose_shape(InferContext& node);
Status transpose_value(InferContext& node);
Result<Work> transpose_cost(const NodeView& node);
Status expand_shape(InferContext& node);
Status expand_value(InferContext& node);
Status tile_shape(InferContext& node);
Status tile_value(InferContext& node);
Result<Work> repeat_cost(const NodeView& node);  ///< Expand and Tile
Status depth_to_space_shape(InferContext& node);
Status space_to_depth_shape(InferContext& node);
Result<Work> block_cost(const NodeView& node);  ///< DepthToSpace and SpaceToDepth
Status reverse_sequence_shape(InferContext& node);
Result<Work> reverse_sequence_cost(const NodeView& node);
Status trilu_shape(InferContext& node);
Status trilu_value(InferContext& node);
Result<Work> data_copy_cost(const NodeView& node);  ///< reads input 0 only, writes the outputs

// pad_rules.cpp: elements added around a tensor.
Status pad_shape(InferContext& node);
Status pad_value(InferContext& node);
Result<Work> pad_cost(const NodeView& node);
Status center_crop_pad_shape(InferContext& node);
Result<Work> center_crop_pad_cost(const NodeView& node);

// gather_rules.cpp: elements picked by index.
Status gather_shape(InferContext& node);
Status gather_value(InferContext& node);
Status gather_elements_shape(InferContext& node);
Status gather_elements_value(InferContext& node);
Status gather_nd_shape(InferContext& node);
Status gather_nd_value(InferContext& node);
Result<Work> gather_cost(const NodeView& node);  ///< the three above
Status compress_shape(InferContext& node);
Status compress_value(InferContext& node);
Result<Work> compress_cost(const NodeView& node);

// scatter_rules.cpp: elements replaced by index.
Status scatter_elements_shape(InferContext& node);
Status scatter_elements_value(InferContext& node);
Status scatter_nd_shape(InferContext& node);
Status scatter_nd_value(InferContext& node);
Status tensor_scatter_shape(InferContext& node);
Result<Work> tensor_scatter_cost(const NodeView& node);
Status one_hot_shape(InferContext& node);
Status one_hot_value(InferContext& node);
Result<Work> one_hot_cost(const NodeView& node);

// col2im_rules.cpp
Status col2im_shape(InferContext& node);
Result<Work> col2im_cost(const NodeView& node);

// search_rules.cpp: results whose shape depends on values.
Status non_zero_shape(InferContext& node);
Status non_zero_value(InferContext& node);
Result<Work> non_zero_cost(const NodeView& node);
Status unique_shape(InferContext& node);
Status unique_value(InferContext& node);
Result<Work> unique_cost(const NodeView& node);
Status non_max_suppression_shape(InferContext& node);

}  // namespace accsim::sim
