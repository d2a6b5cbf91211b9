#pragma once
#include "sim/lower/node_rewrites.h"

namespace accsim::sim {

/// Exponentials divided by their sum are a Softmax: e / sum(e), or e times 1 / sum(e), where e is
/// the exponential of x, or of x less its maximum. Sum and maximum are along the same one axis.
void plan_softmaxes(NodeRewrites& rewrites);

/// What is divided by the root of its squares' sum along one axis is an LpNormalization: x /
/// ReduceL2(x), or the same with the sum spelled out, by way of a reciprocal or of an Expand. A
/// small constant may keep the sum or the root from being 0.
void plan_unit_rows(NodeRewrites& rewrites);

}  // namespace accsim::sim
