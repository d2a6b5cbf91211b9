#pragma once
#include <set>

#include "hw/program/program.h"

namespace accsim::hw {

/// Gives addresses to the program's plain tensors in the shared buffer that its text writes before
/// it reads them, unless all have one. Tensors that aren't used at the same time share bytes. Marks
/// that are added order their uses. All other tensors in the shared buffer, and those of `own`,
/// have bytes of their own from the beginning. Errc::capacity when the tensors don't fit beside
/// those.
Status place_tensors(Program& program, const HwConfig& hw, const std::set<int>& own = {});

}  // namespace accsim::hw
