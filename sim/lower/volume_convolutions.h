#pragma once
#include "sim/lower/node_rewrites.h"

namespace accsim::sim {

/// Conv of one group with constant weights over three spatial dims that is less than that:
/// - Its kernel is all that there is of each image (a patch embedding of patches cut out before):
///   a matrix product whose rows are the images.
/// - Kernel and stride are equal along the first spatial dim: that many planes become channels, and
///   what is left is a Conv over two dims whose images are the planes' groups. With a kernel and
///   strides of 1 all planes are lines of one image.
void plan_volume_convolutions(NodeRewrites& rewrites);

}  // namespace accsim::sim
