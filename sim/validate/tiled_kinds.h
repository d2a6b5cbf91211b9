#pragma once
#include "sim/validate/layer_kinds.h"

namespace accsim::sim {

/// A matrix product as a program of VTA, cut into tiles. Its cycles are those of docs/engines.md,
/// on the port that the row says, not those of the source's machine.
LayerKind tiled_gemm_kind();

/// The same of a convolution.
LayerKind tiled_conv_kind();

}  // namespace accsim::sim
