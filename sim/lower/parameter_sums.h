#pragma once
#include <map>
#include <string>

#include "sim/lower/lower.h"

namespace accsim::sim {

/// Parameters of one type: elements, however they are packed, and bytes in the file.
struct ParameterSum {
  int64_t count = 0, bytes = 0;
};
/// A network's by the name of their type, buffers left out.
std::map<std::string, ParameterSum> parameters_by_type(const Lowered& lowered);

}  // namespace accsim::sim
