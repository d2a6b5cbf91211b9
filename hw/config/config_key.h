#pragma once
#include <string>

#include "hw/config/fields.h"

namespace accsim::hw {

/// The part of a machine that decides `what`, as bytes to compare. It is made of the field table,
/// so two machines of equal keys differ at most in fields that don't decide it.
std::string config_key(const HwConfig& hw, Decides what);

}  // namespace accsim::hw
