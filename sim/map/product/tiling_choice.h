#pragma once
#include <optional>
#include <vector>

#include "sim/map/cost_evaluator.h"
#include "sim/map/product/gemm_space.h"

namespace accsim::sim {

/// The tilings of a product that have been timed, as far as one of them may still be chosen. With
/// slack, several may: fewer cycles found later may take the room from those of less
/// energy_traffic().
class TilingChoice {
 public:
  struct Timed {
    Tiling tiling;
    Cost cost;
    Score score;
  };

  explicit TilingChoice(const ObjectiveFunction& objective) : objective_(objective) {}

  void offer(const Tiling& tiling, const Cost& cost, const Score& score);

  bool empty() const { return !best_; }
  /// What a search need not look beyond.
  Found found_so_far() const;
  /// The best, the first of equals; with slack the one of the least energy_traffic(), then DRAM
  /// bytes, then cycles, that takes at most (1 + slack) times the fewest cycles. Precondition: not
  /// empty.
  const Timed& chosen_tiling() const;
  /// The best by the objective, whatever the slack. Precondition: not empty.
  const Timed& fastest_tiling() const { return *best_; }

 private:
  bool is_within_slack(const Score& score) const;

  const ObjectiveFunction objective_;
  std::optional<Timed> best_;  ///< by the objective
  /// Within the slack; none of them has fewer cycles and less energy_traffic().
  std::vector<Timed> within_;
};

}  // namespace accsim::sim
