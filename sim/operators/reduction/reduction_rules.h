#pragma once
#include "sim/operators/node_view.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// Rules of the reductions, by file.

// reduce_rules.cpp: Reduce*.
/// The axes that a Reduce* node reduces, sorted. Where they are an input it must be known.
Result<std::vector<int64_t>> reduced_axes(const NodeView& node);
Status reduce_shape(InferContext& node);
Status reduce_value(InferContext& node);  ///< Sum, Prod, Max, Min, Mean, SumSquare and L1
Result<Work> reduce_cost(const NodeView& node);

// scan_rules.cpp: operators along one axis.
Status arg_shape(InferContext& node);
Status arg_value(InferContext& node);
Status top_k_shape(InferContext& node);
Status top_k_value(InferContext& node);
Status cumulative_shape(InferContext& node);
Status cumulative_value(InferContext& node);
Status softmax_shape(InferContext& node);  ///< Softmax, LogSoftmax, Hardmax
Status det_shape(InferContext& node);
Result<Work> arg_cost(const NodeView& node);
Result<Work> top_k_cost(const NodeView& node);
Result<Work> cumulative_cost(const NodeView& node);
Result<Work> softmax_cost(const NodeView& node);
Result<Work> hardmax_cost(const NodeView& node);
Result<Work> det_cost(const NodeView& node);

}  // namespace accsim::sim
