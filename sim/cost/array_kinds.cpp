#include "sim/cost/array_kinds.h"

#include <algorithm>

namespace accsim::sim {

std::vector<MapOptions> one_array_each(const hw::HwConfig& hw, const MapOptions& options) {
  std::vector<hw::Dataflow> allowed =
      options.dataflows.empty() ? hw.array.dataflows : options.dataflows;
  for (const MappingPin& pin : options.pins)
    allowed.insert(allowed.end(), pin.dataflow.begin(), pin.dataflow.end());
  // Products of a faster mode are never output stationary, whatever the options say.
  if (std::ranges::any_of(hw.types.modes, [](const hw::TypeMode& m) { return m.rate != 1; }))
    allowed.push_back(hw::Dataflow::weight_stationary);
  const auto sums = std::ranges::count_if(allowed, hw::sums_stay);
  if (sums == 0 || sums == std::ssize(allowed)) return {options};
  std::vector<MapOptions> out(2, options);
  out[0].sums_stay = false;
  out[1].sums_stay = true;
  return out;
}

}  // namespace accsim::sim
