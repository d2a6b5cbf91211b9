#pragma once
#include <string>
#include <string_view>

#include "hw/config/hw_config.h"

namespace accsim::hw {

/// What an index among HwConfig::types.modes is for types.activation by types.weight, the machine's
/// own pair.
inline constexpr int kOwnTypes = -1;

/// The pair of a mode, the own one with rate 1 and energy.mac. Precondition: the machine has it.
TypeMode type_mode(const HwConfig& hw, int mode);
/// How many there are, the own one included.
int mode_count(const HwConfig& hw);
/// "bfloat16 x int4", as reports spell it: activations, then weights.
std::string to_string(const TypeMode& mode);
/// int32 or float32: what products of such activations are summed in.
DType accumulator_of(DType activation);

/// The machine as a product in that mode sees it, with the mode's types and energy per MAC. It has
/// `rate` x rows rows, and each takes its place in timing like a row of the array. With another
/// rate than 1 it isn't output stationary: a sum that stays has no rows of k to be spread over. It
/// has no modes itself. kOwnTypes: the machine as it is, without modes.
HwConfig machine_of_mode(const HwConfig& hw, int mode);

/// The machine as all that isn't a product sees it in a network whose activations are of this type:
/// that is its own type, and modes of other activations are gone. Precondition: a mode has it.
HwConfig machine_of_activations(const HwConfig& hw, DType activation);

}  // namespace accsim::hw
