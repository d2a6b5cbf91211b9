#pragma once
#include "sim/lower/node_rewrites.h"

namespace accsim::sim {

/// Moves for which there is no command, as those for which there are:
/// - Pad: what is added is cut out of the tensor (edge, reflect, wrap) or constant, and both are
/// put together, dim by dim.
/// - Trilu: a product with ones and zeros.
/// - Resize to the size that there is: an Identity. To the nearest elements, where sizes aren't
/// whole multiples of one another: a Gather per dim by a known list, if that is a few boxes.
void plan_move_forms(NodeRewrites& rewrites);

}  // namespace accsim::sim
