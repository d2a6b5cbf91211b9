#pragma once
#include "sim/operators/node_view.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// Rules of the operators that draw random numbers. They have no value, so nothing of them folds.
Status random_shape(InferContext& node);       ///< RandomNormal, RandomUniform: attribute shape
Status random_like_shape(InferContext& node);  ///< of input 0's shape; attribute dtype
Status multinomial_shape(InferContext& node);
Result<Work> random_cost(const NodeView& node);
Result<Work> bernoulli_cost(const NodeView& node);
Result<Work> multinomial_cost(const NodeView& node);

}  // namespace accsim::sim
