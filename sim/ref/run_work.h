#pragma once
#include "sim/graph/graph.h"

namespace accsim::sim::ref {

/// Operations that run() computes for a graph. A multiply-accumulate of a product counts as one.
/// All else (an element that a node reads or writes, an operation of a VectorClass) counts by its
/// time, from the kernels' rates on one core with AVX2. An estimate for limits, of magnitude rather
/// than of time.
double run_operations(const Graph& graph);

}  // namespace accsim::sim::ref
