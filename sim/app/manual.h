#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace accsim::sim {

/// A command's manual page (roff, man macros), made from the command line's own parser; `version`
/// is that of the program.
std::string manual_page(const CLI::App& app, const std::string& version);
/// "accsim-sweep-show.1": the page's file.
std::string manual_file(const CLI::App& app);

}  // namespace accsim::sim
