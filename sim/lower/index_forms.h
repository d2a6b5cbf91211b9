#pragma once
#include "sim/lower/node_rewrites.h"

namespace accsim::sim {

/// GatherND whose indices are of the first dim alone is a Gather along that. ScatterElements along
/// dim 0 whose indices are those of rows, repeated for each element of a row, is a ScatterND. A
/// GatherElements reads indices that an Expand repeats as they are.
void plan_index_forms(NodeRewrites& rewrites);

}  // namespace accsim::sim
