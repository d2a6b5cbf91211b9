#pragma once
#include "sim/graph/graph.h"
#include "sim/lower/lower.h"

namespace accsim::sim {

/// Products of matrices that were repeated for them: keys and values of grouped-query attention. An
/// Expand makes `g` equal matrices of each, one behind the other. A Reshape, and a Transpose of the
/// last two dims, may stand behind it. Such a product reads each matrix once. The rows of the g
/// matrices that it multiplies become one, as they are in memory. The repeating nodes become views.
/// Only where nobody else reads what is between.
void merge_repeats(const Graph& graph, Lowered& lowered);

}  // namespace accsim::sim
