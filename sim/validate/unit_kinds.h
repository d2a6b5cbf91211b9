#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "sim/validate/layer_kinds.h"

namespace accsim::sim {

/// What columns say of pooling, LRN and point-wise layers that no model has: how a machine with
/// vector.template: units runs them. Other machines have no use for it.

/// Pooling: strips of a layer that is cut, with the columns that each adds and the outputs of each.
std::vector<LayerParameter> strip_parameters();
/// LRN: are its squares and products left out?
LayerParameter bypass_parameter();
/// Of point-wise layers: whether columns say the stages; then `function` isn't needed.
inline constexpr std::string_view kOwnStages = "own_stages";
/// Point-wise layers: two stages, and what is in each.
std::vector<LayerParameter> stage_parameters();

/// What a row pins. Nothing: no strips; no bypass; no stages of its own.
std::optional<UnitPin> pool_pin(const LayerSizes& sizes);
std::optional<UnitPin> lrn_pin(const LayerSizes& sizes);
std::optional<UnitPin> pointwise_pin(const LayerSizes& sizes);

/// Do a layer's strips have all its outputs, and all its columns? Errc::invalid.
Status check_strips(const LayerSizes& sizes);

/// An operator of a point-wise layer.
struct PointFunction {
  std::string_view name;
  bool reads = false;  ///< an operand of each element; else its operand, if any, is one number
};
/// The operators of a point-wise layer with stages of its own: sums and products. A layer without
/// any is a ReLU, which takes no more of any machine.
std::vector<PointFunction> stage_functions(const LayerSizes& sizes);

}  // namespace accsim::sim
