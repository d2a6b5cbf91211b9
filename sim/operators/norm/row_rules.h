#pragma once
#include <optional>

#include "sim/operators/node_view.h"
#include "sim/work/row_work.h"

namespace accsim::sim {

/// What operators do with rows (OpRow::rows); their cost rules have accepted the node. Gains and
/// shifts must be constants, as what commands have of them is made off line, and nothing but output
/// 0 may be wanted.

/// A dim of a tensor is an axis; rows are of those from `first` up to `end`, with channels or not.
RowMeaning row_meaning(RowKind kind, const Dims& dims, size_t first, size_t end, bool channels);

/// Gives the axes, one a dim, the strides of a mask that broadcasts to the dims.
void add_mask(const Dims& mask, RowMeaning& to);

/// Softmax along the axis, before opset 13 from the axis on. An axis of 1 before others is that of
/// channels.
std::optional<RowMeaning> softmax_rows(const NodeView& node);
/// LayerNormalization: a gain and shift for each element from the axis on.
std::optional<RowMeaning> layer_norm_rows(const NodeView& node);
/// RMSNormalization: the same without mean and shift.
std::optional<RowMeaning> rms_norm_rows(const NodeView& node);
/// InstanceNormalization: a row and a channel are one.
std::optional<RowMeaning> instance_norm_rows(const NodeView& node);
/// GroupNormalization: a row has several channels.
std::optional<RowMeaning> group_norm_rows(const NodeView& node);
/// LpNormalization of p = 2 is the root of the mean square, times a constant.
std::optional<RowMeaning> lp_norm_rows(const NodeView& node);
/// MeanVarianceNormalization: no channels.
std::optional<RowMeaning> mvn_rows(const NodeView& node);

}  // namespace accsim::sim
