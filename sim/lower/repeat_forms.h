#pragma once
#include "sim/lower/node_rewrites.h"

namespace accsim::sim {

/// What repeats a tensor, as that for which there are commands:
/// - Expand before one sum, difference, product or quotient, which repeats its operand itself: no
/// node.
/// - Expand of single elements to rows: the product with ones.
/// - Tile: an Expand of a dim of 1 before each repeated dim.
/// - OneHot: rows of a small matrix, picked by a Gather. Its indices are classes: there is no row
/// for others.
void plan_repeat_forms(NodeRewrites& rewrites);

}  // namespace accsim::sim
