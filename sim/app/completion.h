#pragma once
#include <string>
#include <vector>

#include "sim/app/command.h"

namespace accsim::sim {

/// Shells that completion_script() writes for.
const std::vector<std::string>& completion_shells();

/// A script that completes commands, options, choices, files and names of shipped machines in that
/// shell, made from the rows of the commands.
std::string completion_script(const Command& program, const std::string& shell);

}  // namespace accsim::sim
