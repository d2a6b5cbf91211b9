#pragma once
#include "sim/operators/node_view.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// Rules of the operators that draw random numbers. They have no value, so nothing of them folds.

/// RandomNormal and RandomUniform: attribute shape.
Status random_shape(InferContext& node);
Status random_like_shape(InferContext& node);  ///< of input 0's shape; attribute dtype
/// Multinomial: scores B x classes to B x sample_size.
Status multinomial_shape(InferContext& node);
/// RandomUniform and its Like: a draw an element.
Result<Work> random_uniform_cost(const NodeView& node);
/// RandomNormal and its Like: a draw an element, and what makes it normal.
Result<Work> random_normal_cost(const NodeView& node);
/// Bernoulli: a draw and a comparison an element.
Result<Work> bernoulli_cost(const NodeView& node);
/// A running sum of exponentials a row, then a draw and a binary search a sample.
Result<Work> multinomial_cost(const NodeView& node);

}  // namespace accsim::sim
