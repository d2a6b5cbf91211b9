#pragma once
#include <string>
#include <vector>

#include "sim/report/report.h"

namespace accsim::sim {

/// On a machine of several modes: what each pair of types has of the products and their MACs, and
/// of each reason why layers aren't in the types that their operands ask for, how many have it, the
/// most first. Empty on a machine of one.
std::vector<std::string> mode_texts(const Report& report);

/// The modes of a machine beside its own types, with their rates; "" when it has none.
std::string machine_modes_text(const hw::HwConfig& hw);

}  // namespace accsim::sim
