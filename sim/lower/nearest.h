#pragma once
#include <cstdint>
#include <optional>

#include "sim/operators/node_view.h"

namespace accsim::sim {

/// Where the elements of a nearest-neighbour resize come from along a dim: output o from input
/// o / repeats, or from first + o * stride.
struct NearestStep {
  int64_t repeats = 1, first = 0, stride = 1;
};

/// Of dim `dim` of a Resize or Upsample; nullopt where the elements come from elsewhere, or are
/// interpolated.
std::optional<NearestStep> nearest_step(const NodeView& node, size_t dim);

}  // namespace accsim::sim
