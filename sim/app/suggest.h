#pragma once
#include "sim/app/command.h"
#include "sim/app/parser.h"
#include "sim/base/result.h"

namespace accsim::sim {

/// The error (usage) of a command line that can't be parsed: what isn't known with the nearest
/// option or command there is, else what the parser says.
Error usage_error(const Command& program, const ParseOutcome& outcome);

/// Errc::io for every file of the parsed command line that should be read, isn't there, and has
/// something with nearly its name: a file of its folder, a shipped machine, a command. Files
/// without such a neighbour are left to the command, which says why it can't open them.
Status check_misspelt_files(const Command& program);

}  // namespace accsim::sim
