#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "sim/map/product/gemm_space.h"

namespace accsim::sim {

/// How much work goes into a mapping.
enum class MapEffort : uint8_t {
  search,  ///< every tiling that its bound doesn't exclude
  rule,    ///< one tiling by the fixed rule (rule.h); pinned layers are searched all the same
};

/// What mappings are chosen from, and by.
struct MapOptions {
  std::vector<hw::Dataflow> dataflows = {};  ///< empty: those of the machine
  Objective objective = Objective::cycles;
  double slack = kDefaultSlack, cycle_price = 0;  ///< as an ObjectiveFunction has them
  MapEffort effort = MapEffort::search;
  std::vector<MappingPin> pins = {};  ///< the first whose glob matches a layer applies
  bool programs = true;               ///< build and verify the chosen programs; else only cost them
  int threads = 1;                    ///< of map_ahead()
  std::shared_ptr<SearchLimit> limit = {};  ///< of all mappers that have it; none: no limit
  /// For a bound, not for a program: what is staged may have all of the shared buffer.
  bool all_room = false;
  /// Only dataflows whose sums stay in the array, or only those whose operands do: a program is one
  /// or the other as a whole (one_array_each()). Unset: any, as products alone may have them.
  std::optional<bool> sums_stay = {};

  /// The fixed rule leaves nothing to choose from.
  bool only_rule() const { return effort == MapEffort::rule && pins.empty(); }
  ObjectiveFunction objective_function() const {
    return {objective, only_rule() ? 0 : slack, cycle_price};
  }
  /// Is there nothing to choose by cycles, and nobody to tell them to?
  bool only_traces() const { return only_rule() && !programs; }
};

}  // namespace accsim::sim
