#include "sim/cost/left_out.h"

namespace accsim::sim {

std::vector<std::string_view> left_out_layers(std::span<const ScheduledOp> text, size_t layers) {
  std::vector<std::string_view> out(layers);
  for (const ScheduledOp& s : text)
    if (out[s.layer].empty()) out[s.layer] = s.mapping->unverifiable;
  return out;
}

}  // namespace accsim::sim
