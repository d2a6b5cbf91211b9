#pragma once
#include <string>

#include "sim/app/command.h"

namespace accsim::sim {

/// Every command of the program with its options, as Markdown (docs/options.md): what `--help`
/// says, from the same rows.
std::string options_markdown(const Command& program);

}  // namespace accsim::sim
