#pragma once
#include "sim/lower/node_rewrites.h"

namespace accsim::sim {

/// A Mul or Div by one number whose result has the integers of its input, with another scale, is an
/// Identity. Quantisers make such a scale where they find both ranges by the same runs.
void plan_kept_codes(NodeRewrites& rewrites);

/// Do equal integers of two tensors stand for equal numbers, or has neither integers?
bool have_same_codes(const Graph& graph, TensorId a, TensorId b);

}  // namespace accsim::sim
