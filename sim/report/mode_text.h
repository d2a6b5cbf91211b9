#pragma once
#include <string>
#include <vector>

#include "sim/report/report.h"

namespace accsim::sim {

/// For a machine of several modes: each pair of types with its products and their MACs. Then each
/// reason why layers aren't in their operands' types, with the number of layers, the most first.
/// Empty for a machine of one mode.
std::vector<std::string> mode_texts(const Report& report);

/// The modes of a machine beside its own types, with their rates; "" when it has none.
std::string machine_modes_text(const hw::HwConfig& hw);

}  // namespace accsim::sim
