#pragma once
#include "hw/program/program.h"

namespace accsim::hw {

/// Gives addresses to the program's plain tensors in the shared buffer that its text writes before
/// it reads them: those which it doesn't use at the same time have bytes in common, and marks that
/// are added order their uses. Errc::capacity when they don't fit beside what has bytes of its own.
Status place_tensors(Program& program, const HwConfig& hw);

}  // namespace accsim::hw
