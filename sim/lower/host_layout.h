#pragma once
#include <vector>

#include "sim/graph/graph.h"
#include "sim/lower/layout.h"

namespace accsim::sim {

/// How the host lays a graph input out. Channels are last if its first reader wants that; nodes
/// that take any order are seen through. Else it lies in the order of its dims. `readers`:
/// consumers_by_tensor() of the graph.
Layout host_layout(const Graph& graph, const std::vector<std::vector<NodeId>>& readers,
                   TensorId input);

}  // namespace accsim::sim
