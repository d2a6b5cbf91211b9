#pragma once
#include "sim/graph/graph.h"

namespace accsim::sim::ref {

/// What run_graph() computes for a graph, in operations: a multiply-accumulate of a product is one, and
/// everything else (an element that a node reads or writes, an operation of a VectorClass) as many
/// as it takes as long as, by the kernels' rates on one core with AVX2. An estimate for limits, of
/// magnitude rather than of time.
double run_operations(const Graph& graph);

}  // namespace accsim::sim::ref
