#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace accsim::sim {

/// Every command of the program with its options, as Markdown (docs/options.md): what `--help`
/// says, read from the parser itself, so that the two can't differ.
std::string options_markdown(const CLI::App& app);

}  // namespace accsim::sim
