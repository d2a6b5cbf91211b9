#pragma once
#include <string>

#include "sim/app/command.h"

namespace accsim::sim {

/// `--help` of the program and its commands: options by group, wrapped to the terminal's width (at
/// most 100 columns, beyond which lines are hard to read).
std::string help_text(const Command& command);

}  // namespace accsim::sim
