#pragma once
#include <random>

#include "sim/work/work.h"

namespace accsim::sim {

/// A small product, batched product or convolution (grouped, depthwise, dilated, strided, padded,
/// 3-D, several images) that meets the corners of tiling: ragged edges, one row, fewer channels
/// than rows.
GemmOp random_gemm(std::mt19937& random);

}  // namespace accsim::sim
