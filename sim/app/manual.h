#pragma once
#include <string>

#include "sim/app/command.h"

namespace accsim::sim {

/// A command's manual page (roff, man macros), made from the rows of the command; `version`
/// is that of the program.
std::string manual_page(const Command& command, const std::string& version);
/// "accsim-sweep-show.1": the page's file.
std::string manual_file(const Command& command);

}  // namespace accsim::sim
