#pragma once
#include "sim/lower/lower.h"

namespace accsim::sim {

/// lower() of every node by itself: but for constants nothing is folded into a neighbour.
Result<Lowered> lower_each(const Graph& graph);

}  // namespace accsim::sim
