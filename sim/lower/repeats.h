#pragma once
#include "sim/graph/graph.h"
#include "sim/lower/lower.h"

namespace accsim::sim {

/// Products of matrices that were repeated for them: keys and values of grouped-query attention, an
/// Expand (with a Reshape, and a Transpose of the last two dims, behind it) that makes `g` equal
/// matrices of each, one behind the other. Such a product reads each matrix once, with the rows of
/// the g matrices that it multiplies as one, which they are in memory; the repeating nodes become
/// views. Only where nobody else reads what is between.
void merge_repeats(const Graph& graph, Lowered& lowered);

}  // namespace accsim::sim
