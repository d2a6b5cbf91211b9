#pragma once
#include <optional>

#include "hw/engines/tiled_layer.h"
#include "sim/validate/layer_kinds.h"
#include "sim/validate/validation.h"

namespace accsim::sim {

/// A matrix product as a program of the machine's engines, cut into tiles. Its cycles are those of
/// docs/engines.md, by the section `engines` of the machine. Errors: a machine without it, or
/// without its kinds.
LayerKind tiled_gemm_kind();

/// The same of a convolution.
LayerKind tiled_conv_kind();

/// The layer of a row of one of these kinds, with its program; nothing of others.
std::optional<hw::TiledLayer> tiled_layer(const ValidationPoint& point);

}  // namespace accsim::sim
