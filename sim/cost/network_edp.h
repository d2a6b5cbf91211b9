#pragma once
#include <memory>
#include <span>
#include <string>

#include "sim/map/mapper.h"

namespace accsim::sim {

/// A mapper of the network's ops with these options. Where the objective is edp they have the
/// cycle_price by which it makes, op for op, the product of energy and cycles least, both summed
/// over all ops as they are alone; to 1 / 1000 of it.
///
/// At sums E and C the product E C changes by C (dE + (E / C) dC), so a cycle is worth E / C.
/// Mappings of the least E' + (E / C) C' have E' / E + C' / C <= 2, so E' C' <= E C: from price to
/// price the product falls, until it hardly does.
std::unique_ptr<Mapper> network_mapper(std::span<const NetworkOp> ops, const hw::HwConfig& hw,
                                       const MapOptions& options);

}  // namespace accsim::sim
