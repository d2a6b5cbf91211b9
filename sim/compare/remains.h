#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/compare/compare.h"

namespace accsim::sim {

/// What one unit of the machine costs on either side, and what would be left without it.
struct UnitShare {
  Unit unit = Unit::array;
  int64_t cycles_a = 0, cycles_b = 0;
  double share_a = 0, share_b = 0;  ///< of the side's cycles, 0 to 1
  /// B's cycles when this unit's were gone and nothing else came in their place: what no
  /// improvement of the unit alone can beat.
  int64_t least_b = 0;
};

/// Why B isn't as much faster as its array is larger, from the figures of the comparison alone.
struct Remains {
  double array_ratio = 1;   ///< B's multiply-accumulates a cycle over A's
  double speedup = 0;       ///< A's cycles over B's; 0 without cycles
  double time_speedup = 0;  ///< A's time over B's
  /// A's cycles over array_ratio: what B would take if every cycle of A had become shorter as the
  /// array became larger. Nothing when the array is the same or the sides do other MACs.
  std::optional<double> ideal;
  std::vector<UnitShare> units;  ///< with cycles on a side; B's largest first
};
/// What the comparison's figures say of the units; needs nothing but them.
Remains find_remains(const Comparison& c);

/// The same in sentences: "16 times the array, 3.02 times fewer cycles: 61.2 % of B is ...".
std::vector<std::string> remains_sentences(const Comparison& c, const Remains& r);

}  // namespace accsim::sim
