#pragma once
#include <random>

#include "hw/golden/golden.h"

namespace accsim::hw {

/// Lets loads come from both memories. Every tensor i of n gets a twin n + i in the other memory,
/// with the same contents. Every load becomes one or two loads, each from the tensor or its twin,
/// as `random` has it. Values stay the same if no load reads what the program stores. For random
/// programs, as no mapping fills one slot from two memories. Padded loads stay whole, and loads
/// from regions stay where they are.
void scatter_loads(Program& program, MemoryImage& image, std::mt19937& random);

}  // namespace accsim::hw
