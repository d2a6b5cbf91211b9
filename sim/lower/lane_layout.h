#pragma once
#include <vector>

#include "sim/graph/graph.h"

namespace accsim::sim {

/// Where the elements of a graph's tensors lie in memory, as far as lane commands ask: what
/// convolutions and poolings read and write lies with the channels innermost, and so does what is
/// made of that dim by dim; all else is row-major. Constants are laid out off line.
class LaneLayouts {
 public:
  explicit LaneLayouts(const Graph& graph);

  bool channels_last(TensorId id) const { return channels_last_[static_cast<size_t>(id)]; }
  /// Elements from one index of each dim to the next.
  std::vector<int64_t> strides(TensorId id) const;

 private:
  const Graph& graph_;
  std::vector<bool> channels_last_;
};

}  // namespace accsim::sim
