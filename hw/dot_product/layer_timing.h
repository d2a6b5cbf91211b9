#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hw/dot_product/layer_cut.h"
#include "sim/base/units.h"

namespace accsim::hw {

/// In which cycle what happens, counted from time zero: of the first layer, where layers overlap.
struct LayerEvents {
  int64_t first_read = 0, last_read = 0;
  std::optional<int64_t> last_weight_read;  ///< none: the layer before has kept the weights
  int64_t last_feature_read = 0;
  int64_t first_write = 0, last_write = 0;
  int64_t read_wait = 0;  ///< cycles by which blocks began later because of reads

  bool operator==(const LayerEvents&) const = default;
};

/// The events of one layer, exactly as the rules of docs/dot-product.md have them. The work grows
/// with kernel groups, and with stripes until they repeat. Errors are those of check_engine() and
/// cut_layer().
Result<LayerEvents> time_layer(const DotProductLayer& layer, const DotProductEngine& engine);

/// The events of independent layers, the next one's reads under the blocks of the one before
/// (section "Layers in sequence", overlapped). Errors also where weights are kept for a layer that
/// doesn't take them, or taken from one that hasn't kept them, or has another division.
Result<std::vector<LayerEvents>> time_overlapped(std::span<const DotProductLayer> layers,
                                                 const DotProductEngine& engine);

/// Cycles of layers that depend on one another: each begins at the last write of the one before.
Result<Cycles> time_one_by_one(std::span<const DotProductLayer> layers,
                               const DotProductEngine& engine);

}  // namespace accsim::hw
