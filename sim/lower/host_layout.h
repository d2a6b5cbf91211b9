#pragma once
#include <vector>

#include "sim/graph/graph.h"
#include "sim/lower/layout.h"

namespace accsim::sim {

/// How the host lays a graph input out: channels last where its first reader wants that, seen
/// through what takes it in any order; else in the order of its dims. `readers`: consumers_by_tensor() of the
/// graph.
Layout host_layout(const Graph& graph, const std::vector<std::vector<NodeId>>& readers,
                   TensorId input);

}  // namespace accsim::sim
