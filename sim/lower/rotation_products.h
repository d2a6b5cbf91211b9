#pragma once
#include "sim/lower/node_rewrites.h"

namespace accsim::sim {

/// Rotary embeddings whose pairs are neighbours (interleaved) turn single elements, which lanes
/// take one by one. The array turns them faster: a row of x times a matrix that holds 1 and -1. No
/// MAC of it is the network's. Those whose pieces are long enough for lanes stay as they are.
void plan_rotation_products(NodeRewrites& rewrites);

}  // namespace accsim::sim
