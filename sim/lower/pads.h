#pragma once
#include "sim/graph/graph.h"

namespace accsim::sim {

/// Gives elements that a node adds around a tensor to the windows that slide over it, if these
/// read the same beyond its edges (OpRow::beyond). These are zeros before a convolution or before
/// a mean that counts them, and the lowest value before a maximum. The node is absorbed; nodes and
/// tensors keep their ids. It stays if anything else reads its result, if it cuts off or repeats
/// elements or adds some along the channels, or if windows find their own edges (auto_pad,
/// ceil_mode).
Graph absorb_pads(Graph graph);

}  // namespace accsim::sim
