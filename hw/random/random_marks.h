#pragma once
#include "hw/random/random_program.h"

namespace accsim::hw {

/// A layer of copies between plain tensors of both memories that only marks order: through output
/// slots, filled ahead of what is stored, and by stages. Loads are over before the stores, and
/// stages before the loads, that wait for them may begin; stores come in bursts of a few bytes to
/// both memories, so that several are done at once. `hw` has at least one output slot of 64 bytes.
ProgramWithImage random_marks(const HwConfig& hw, Dataflow dataflow, std::mt19937& random);

}  // namespace accsim::hw
