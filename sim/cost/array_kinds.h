#pragma once
#include <vector>

#include "hw/config/hw_config.h"
#include "sim/map/mapper.h"

namespace accsim::sim {

/// The options for each way in which a network's array can be used. A program is output stationary
/// as a whole or not at all (rtl/README.md). So there are two where the machine, the options or
/// their pins allow dataflows of both kinds: with operands that stay, and with sums that do. Else
/// the options as they are.
std::vector<MapOptions> one_array_each(const hw::HwConfig& hw, const MapOptions& options);

}  // namespace accsim::sim
