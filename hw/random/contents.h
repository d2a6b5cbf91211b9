#pragma once
#include <vector>

#include "hw/golden/golden.h"
#include "hw/random/dice.h"

namespace accsim::hw {

/// What TensorDrawer's tensors hold when the program begins: of kRows as many bytes as row commands
/// may read, when it has some, and one when not.
MemoryImage draw_contents(const std::vector<ProgramTensor>& tensors, bool has_rows, Dice dice);

}  // namespace accsim::hw
