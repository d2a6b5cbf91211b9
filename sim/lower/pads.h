#pragma once
#include "sim/graph/graph.h"

namespace accsim::sim {

/// Gives elements that a node adds around a tensor to the windows that slide over it, where those
/// read the same beyond its edges (OpRow::beyond): zeros before a convolution or a mean that counts
/// them, what no element is below before a maximum. The node is absorbed; nodes and tensors keep
/// their ids. It stays when anything else reads what it makes, where it cuts off or repeats
/// elements or adds some along the channels, and where windows find their own edges (auto_pad,
/// ceil_mode).
Graph absorb_pads(Graph graph);

}  // namespace accsim::sim
