#pragma once
#include <functional>
#include <string>
#include <vector>

#include "sim/app/command.h"

namespace accsim::sim {

/// How reading a command line ended.
struct ParseOutcome {
  bool wants_help = false;           ///< of the innermost command, and nothing else runs
  bool wants_version = false;        ///< likewise
  std::string problem;               ///< why it can't be parsed; "": it could
  std::vector<std::string> unknown;  ///< words that no command knows

  bool is_good() const { return problem.empty(); }
};

/// Reads a command line by the rows of a program's commands: sets their targets and what was
/// given, and chooses the commands that were named. `machine_file` finds the file that a machine's
/// name means. Called once, when all commands are there.
ParseOutcome parse_command_line(Command& program, const std::vector<std::string>& words,
                                const std::function<std::string(const std::string&)>& machine_file);

}  // namespace accsim::sim
