#pragma once
#include "hw/config/hw_config.h"
#include "sim/graph/graph.h"
#include "sim/lower/lower.h"
#include "sim/map/units/unit_work.h"

namespace accsim::sim {

/// What units for pooling, LRN and point-wise layers do of a layer's one vector op, whatever their
/// sizes: pooling and LRN with what follows them point by point, or point-wise work alone. A stage
/// does a sum (or maximum, or minimum), a product and ReLU, in this order; what comes in another
/// order takes the next stage. Operands of one element are the unit's own; operands as large as the
/// layer are read. Says what is lacking where the units can't do all of it.
UnitWork unit_work(const Graph& graph, const Layer& layer, const hw::HwConfig& hw);

}  // namespace accsim::sim
