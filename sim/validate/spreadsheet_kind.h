#pragma once
#include "sim/validate/layer_kinds.h"

namespace accsim::sim {

/// A layer of NVDLA's performance spreadsheet (docs/dot-product.md, section "The spreadsheet"), on
/// the machine that the row says. Its MACs are those of the convolution alone.
LayerKind spreadsheet_kind();

}  // namespace accsim::sim
