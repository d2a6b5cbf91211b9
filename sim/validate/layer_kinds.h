#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hw/config/hw_config.h"
#include "sim/base/result.h"
#include "sim/graph/model_def.h"
#include "sim/map/units/unit_work.h"
#include "sim/validate/row_cost.h"

namespace accsim::sim {

/// A size of a kind of layer.
struct LayerParameter {
  std::string_view name;
  int64_t least = 1;
  std::optional<int64_t> otherwise = {};  ///< where it isn't given; nothing: see `like`
  std::string_view like = {};             ///< as large as this one, where it isn't given
  std::string_view meaning;
  /// Where a cell has one of these words, the size is the word's index; none: it is a number.
  std::vector<std::string_view> words = {};

  bool is_needed() const { return !otherwise && like.empty(); }
};

/// The sizes of one layer, by name.
struct LayerSizes {
  std::map<std::string, int64_t, std::less<>> values;
  std::vector<std::string> functions = {};  ///< operators of a pointwise layer, in order

  int64_t operator[](std::string_view name) const { return values.find(name)->second; }
};

/// Something that a row of a table can measure: one layer, or some that belong together.
struct LayerKind {
  std::string_view name, meaning;
  std::vector<LayerParameter> parameters;
  /// The layer as a model without weights. Error (invalid, without `where`): no such shape.
  Result<ModelDef> (*model)(const LayerSizes& sizes);
  /// What it costs on a machine that the row says; null: on the source's machine, by the main job.
  Result<RowCost> (*cost)(const LayerSizes& sizes) = nullptr;
  /// What the row says of it that no model can, where it says any; null: rows never do.
  std::optional<UnitPin> (*unit)(const LayerSizes& sizes) = nullptr;
  /// Its cycles on a machine, which are all that is predicted of it; null: by the main job.
  Result<Cycles> (*cycles)(const LayerSizes& sizes, const hw::HwConfig& hw) = nullptr;

  const LayerParameter* parameter(std::string_view name) const;
};

/// product, ffn_gated, ffn_erf, attention, conv, pool, lrn, pointwise, tiled_gemm, tiled_conv,
/// spreadsheet.
const std::vector<LayerKind>& layer_kinds();
/// Sizes of at most so much.
inline constexpr int64_t kMostLayerSize = int64_t{1} << 31;

/// Gives every parameter that isn't in `sizes` its value. Precondition: those that are needed are.
void fill_sizes(const LayerKind& kind, LayerSizes& sizes);

/// Operators that a pointwise layer may apply. Add, Sub, Mul, Div, Max and Min take a second
/// operand.
const std::vector<std::string>& pointwise_functions();

}  // namespace accsim::sim
