#pragma once
#include "hw/config/hw_config.h"

namespace accsim::sim {

/// The machine whose tile programs give a machine's values: itself, or of an engine of dot products
/// an array of as many rows and columns with lanes beside it. Sums of integers are the same in any
/// order, so its values are those of the engine's blocks. Its cycles aren't.
hw::HwConfig value_machine(const hw::HwConfig& hw);

}  // namespace accsim::sim
