#pragma once
#include "sim/program/network_case.h"

namespace accsim::sim {

/// network_case() with the numbers that make the network int8 (quantised_constants()), of a float
/// run of random inputs, where the file has the weights and the network can be run; random ones
/// where not. Its report says of how many parts they are real.
Result<NetworkCase> quantised_network_case(const Graph& graph, const CostedNetwork& network,
                                           const hw::HwConfig& hw, uint64_t seed, int threads);

}  // namespace accsim::sim
