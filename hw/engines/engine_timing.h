#pragma once
#include <vector>

#include "hw/engines/command_fetch.h"
#include "sim/base/units.h"

namespace accsim::hw {

/// First and last cycle of each command, exactly as the rules of docs/engines.md have them, from
/// cycle 0. The work grows with the number of requests and bursts. Errors are those of
/// check_engine_machine() and check_engine_program(), and Errc::invalid where the program waits for
/// ever or a token queue gets more tokens than it counts.
Result<std::vector<CommandSpan>> time_commands(const EngineProgram& program,
                                               const EngineMachine& machine);

/// The cycle in which the last command ends; 0 without commands. Errors as above.
Result<Cycles> time_engine_program(const EngineProgram& program, const EngineMachine& machine);

}  // namespace accsim::hw
