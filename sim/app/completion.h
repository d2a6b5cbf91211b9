#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace accsim::sim {

/// Shells that completion_script() writes for.
const std::vector<std::string>& completion_shells();

/// A script that completes commands, options, choices, files and names of shipped machines in that
/// shell, made from the command line's own parser.
std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace accsim::sim
