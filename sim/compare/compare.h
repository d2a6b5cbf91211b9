#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/compare/run_side.h"

namespace accsim::sim {

/// How a layer found its partner.
enum class Match : uint8_t {
  name,    ///< the same name, the n-th of that name with the n-th
  order,   ///< of the layers left, the n-th of an operator with the n-th of that operator
  only_a,  ///< none in B
  only_b,  ///< none in A
};
/// "name", "order", "only_a", "only_b".
std::string_view name(Match m);

/// A layer of both sides, or of one.
struct LayerDifference {
  std::optional<size_t> a, b;  ///< into the sides' layers
  Match match = Match::name;
  CauseCycles causes{};    ///< B less A; of a layer on one side only_a or only_b alone
  int64_t difference = 0;  ///< cycles of B less those of A: the causes' sum
};

/// A field of the machine that differs; "-" where a side doesn't have it.
struct ChangedField {
  std::string path, a, b;
};

/// Two runs, and where the difference of their cycles comes from.
struct Comparison {
  RunSide a, b;
  std::vector<LayerDifference> layers;  ///< in A's order; those only in B behind their forerunner
  /// Cycles by cause of either side, and B less A: sums exactly to a.cycles, b.cycles and their
  /// difference. Layers on one side count under only_a and only_b, whatever they spend cycles on.
  CauseCycles cycles_a{}, cycles_b{}, difference{};
  std::vector<ChangedField> changed;  ///< fields of the machine, in file order
};

/// Pairs the sides' layers and takes the difference apart. Any two runs can be compared; where a
/// side doesn't tell weight load from array fill, both are counted as array fill on both.
Comparison compare_runs(RunSide a, RunSide b);

}  // namespace accsim::sim
