#pragma once
#include "sim/graph/graph.h"

namespace accsim::sim {

/// The graph on real numbers with operators in the form that machines do best, of the same values:
/// convolutions in the place of transposed ones, say. What a file writes in one way or another
/// costs the same then. A part of an operator has its name (Node::part_of).
Graph plain_forms(Graph graph);

}  // namespace accsim::sim
