#pragma once
#include <string_view>

#include "hw/program/program.h"

namespace accsim::hw {

/// Why golden and the core don't run all of it: "operations without a command" (VectorCommand),
/// "walks of many levels", or loads that the core doesn't have, "padded loads", "loads into
/// accumulators", "elements of several bytes turned"; of several the first in the text. "" where
/// they do.
std::string_view why_not_verifiable(const Program& program);
/// Do golden and the core run all of it?
inline bool is_verifiable(const Program& program) { return why_not_verifiable(program).empty(); }

/// Why no program's values and cycles on this machine are those of golden and the core: "other
/// types than the core's" (int8 by int8 or int4 into int32), "banked DRAM". "" where they are.
std::string_view why_not_verifiable(const HwConfig& hw);

}  // namespace accsim::hw
