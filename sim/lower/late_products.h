#pragma once
#include "sim/lower/node_rewrites.h"

namespace accsim::sim {

/// A product to whose results one sum adds what is made later comes right before that sum, which
/// its unit then adds itself. So the order in which a file has independent nodes matters less.
void plan_late_products(NodeRewrites& rewrites);

}  // namespace accsim::sim
