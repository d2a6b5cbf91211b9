#include "sim/lower/parameter_sums.h"

namespace accsim::sim {

std::map<std::string, ParameterSum> parameters_by_type(const Lowered& lowered) {
  std::map<std::string, ParameterSum> out;
  for (const Parameter& p : lowered.parameters) {
    if (p.buffer) continue;
    ParameterSum& sum = out[std::string(name(p.type))];
    sum.count += p.count;
    sum.bytes += p.bytes;
  }
  return out;
}

}  // namespace accsim::sim
