#pragma once
#include "sim/lower/node_rewrites.h"

namespace accsim::sim {

/// Resize and Upsample that interpolate along a dim, by lines (linear) or cubic functions: a matrix
/// product of that dim with the weights of each output. So are those to the nearest elements, where
/// sizes aren't whole multiples of one another, and CumSum, with ones and zeros. No MAC of these is
/// the network's.
void plan_resize_products(NodeRewrites& rewrites);

}  // namespace accsim::sim
