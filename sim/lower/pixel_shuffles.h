#pragma once
#include "sim/lower/node_rewrites.h"

namespace accsim::sim {

/// DepthToSpace, and the Reshape, Transpose and Reshape that spell it out, behind a convolution of
/// constant weights, maybe with nodes between them that work on channels: the convolution makes its
/// channels in such an order that the pixels of a block lie apart and the channels of a pixel
/// together. So pixels move as wholes, and a view may do.
void plan_pixel_shuffles(NodeRewrites& rewrites);

}  // namespace accsim::sim
