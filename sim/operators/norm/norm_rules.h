#pragma once
#include "sim/operators/node_view.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// Normalisation of rows of `row` elements of input 0: two reductions and two elementwise
/// operations an element, one special operation a row.
VectorOp norm_op(const NodeView& node, int64_t row);

/// LayerNormalization and SimplifiedLayerNormalization (no mean, no bias): output shapes, with mean
/// at `mean` and inverse deviation at `deviation` (0: there is none).
Status layer_norm_outputs(InferContext& node, size_t mean, size_t deviation);
Status layer_norm_rule(InferContext& node);
Status simplified_layer_norm_rule(InferContext& node);
Result<Work> layer_norm_cost(const NodeView& node);
Result<Work> simplified_layer_norm_cost(const NodeView& node);

// Losses; their rows stand among norm_rows().
Status nll_loss_rule(InferContext& node);
Result<Work> nll_loss_cost(const NodeView& node);
Status cross_entropy_rule(InferContext& node);
Result<Work> cross_entropy_cost(const NodeView& node);

}  // namespace accsim::sim
