#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "hw/dot_product/side_units.h"

namespace accsim::sim {

/// A layer of one of the units that a machine with vector.template: units has.
using UnitLayer = std::variant<hw::PoolLayer, hw::LrnLayer, hw::PointLayer>;

/// A layer as often as it is run, once for each image.
struct UnitRun {
  UnitLayer layer;
  int64_t times = 1;

  bool operator==(const UnitRun&) const = default;
};

/// What the units do of a vector op: layers that run one after the other, or why they do none of
/// it.
struct UnitWork {
  std::vector<UnitRun> runs;
  std::string_view lacks = "";  ///< as reports say it; "": the units do all of it

  bool operator==(const UnitWork&) const = default;
};

/// What a row of a table says of a layer that its network doesn't.
struct UnitPin {
  std::vector<hw::PoolStrip> strips;  ///< of pooling; none: the fewest that fit
  bool bypass = false;                ///< of LRN
  /// Does it end with its last write, as measured rows do? Else what no output needs is read, too.
  bool to_last_write = false;
  /// Of a point-wise layer; none: those that its operators need.
  std::optional<std::vector<hw::PointStage>> stages = std::nullopt;

  /// Does it say what the unit does, so that nothing else can do the layer?
  bool says_work() const { return !strips.empty() || bypass || stages; }
};

}  // namespace accsim::sim
