#pragma once
#include "sim/lower/lower.h"

namespace accsim::sim {

/// Makes of each product with a tensor whose halves have changed places, the second one negated
/// (what rotary embeddings call rotate_half), or whose neighbours have, a product that reads the
/// tensor itself so (Layer::turned). Slice or Split, Neg and Concat, which spell it out with
/// whatever views between them, are merged into it as far as nobody else reads their results.
void merge_rotations(const Graph& graph, Lowered& lowered);

}  // namespace accsim::sim
