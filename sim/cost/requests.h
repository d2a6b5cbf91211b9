#pragma once
#include <vector>

#include "hw/config/hw_config.h"
#include "sim/graph/graph.h"
#include "sim/lower/lower.h"
#include "sim/map/mapper.h"
#include "sim/map/residency.h"

namespace accsim::sim {

/// What a layer's work asks of the mapper, item by item: its ports with the places that residency
/// gives them on the machine. `all_room`: as MapOptions has it.
std::vector<OpRequest> layer_requests(const Graph& graph, const Layer& layer,
                                      const Residency& residency, const hw::HwConfig& hw,
                                      bool all_room = false);

}  // namespace accsim::sim
