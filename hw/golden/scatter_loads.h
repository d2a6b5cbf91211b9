#pragma once
#include <random>

#include "hw/program/program.h"

namespace accsim::hw {

/// Lets loads come from both memories: every tensor i of n gets a twin n + i in the other memory,
/// and every load becomes one or two, each of tensor or twin as `random` has it. The values stay as
/// they are when a twin holds what its tensor holds at the start, and no load reads what the
/// program stores. For random programs: no mapping of today fills one slot from two memories.
/// Padded loads stay whole.
void scatter_loads(Program& program, std::mt19937& random);

}  // namespace accsim::hw
