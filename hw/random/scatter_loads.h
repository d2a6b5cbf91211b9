#pragma once
#include <random>

#include "hw/golden/golden.h"

namespace accsim::hw {

/// Lets loads come from both memories: every tensor i of n gets a twin n + i in the other memory
/// with what the tensor holds, and every load becomes one or two, each of tensor or twin as
/// `random` has it. The values stay as they are where no load reads what the program stores. For
/// random programs: no mapping of today fills one slot from two memories. Padded loads stay whole,
/// loads from regions stay where they are.
void scatter_loads(Program& program, MemoryImage& image, std::mt19937& random);

}  // namespace accsim::hw
