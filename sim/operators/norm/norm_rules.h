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
/// LayerNormalization: layer_norm_outputs() with mean and inverse deviation at 1 and 2.
Status layer_norm_rule(InferContext& node);
/// SimplifiedLayerNormalization: inverse deviation at 1, no mean.
Status simplified_layer_norm_rule(InferContext& node);
/// norm_op() of rows from attribute axis on.
Result<Work> layer_norm_cost(const NodeView& node);
/// The same with squares only.
Result<Work> simplified_layer_norm_cost(const NodeView& node);

// Losses; their rows stand among norm_rows().
/// NegativeLogLikelihoodLoss: one number, or one a label when not reduced. Scores N x C x ...,
/// labels N x ...
Status nll_loss_rule(InferContext& node);
/// One score (and weight) a label picked, and summed when reduced.
Result<Work> nll_loss_cost(const NodeView& node);
/// SoftmaxCrossEntropyLoss: as the negative log likelihood, and on request the log
/// probabilities as output 1.
Status cross_entropy_rule(InferContext& node);
/// A log softmax over the classes, then the picking and summing.
Result<Work> cross_entropy_cost(const NodeView& node);

}  // namespace accsim::sim
