#pragma once
#include "sim/lower/lower.h"

namespace accsim::sim {

/// Finds products with a tensor whose halves, or neighbours, have changed places, the second one
/// negated (rotate_half of rotary embeddings). They become products that read the tensor itself so
/// (Layer::turned). Slice or Split, Neg and Concat, which spell it out with views between them, are
/// merged into the product as far as nobody else reads their results.
void merge_rotations(const Graph& graph, Lowered& lowered);

}  // namespace accsim::sim
