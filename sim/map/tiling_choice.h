#pragma once
#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/base/check.h"
#include "sim/map/objective.h"

namespace accsim::sim {

/// The tilings of an op that have been timed, as far as one of them may still be chosen. With
/// slack, several may: fewer cycles found later may take the room from those of less
/// energy_traffic().
template <class Tiling>
class TilingChoice {
 public:
  struct Timed {
    Tiling tiling;
    Cost cost;
    Score score;
  };

  explicit TilingChoice(const ObjectiveFunction& objective) : objective_(objective) {}

  void offer(const Tiling& tiling, const Cost& cost, const Score& score) {
    if (!best_ || score < best_->score) best_ = {tiling, cost, score};
    if (!objective_.has_slack() || !is_within_slack(score.cycles) ||
        std::ranges::any_of(within_, [&](const Timed& t) { return as_good(t.score, score); }))
      return;
    std::erase_if(within_, [&](const Timed& t) {
      return as_good(score, t.score) || !is_within_slack(t.score.cycles);
    });
    within_.push_back({tiling, cost, score});
  }

  /// Offers tilings with bounds of their cycles, the best bound first, as long as their bounds
  /// don't exclude them. `evaluate` times a tiling, offers it, and returns its cycles.
  template <class Bounded, class Evaluate>
  void search(const std::vector<std::pair<int64_t, Bounded>>& tilings, Evaluate evaluate) {
    for (const auto& [bound, t] : tilings) {
      if (excludes(bound)) return;
      check(bound <= evaluate(t), "a mapping's bound exceeds its cycles");
    }
  }

  bool empty() const { return !best_; }
  /// What a search need not look beyond.
  Found found_so_far() const {
    if (empty()) return {};
    Found out{.primary = best_->score.primary, .cycles = best_->score.cycles};
    if (!objective_.has_slack()) return out;
    const Score& least = chosen_tiling().score;
    out.energy_traffic = least.energy_traffic;
    out.energy_traffic_cycles = least.cycles;
    return out;
  }
  /// The best, the first of equals; with slack the one of the least energy_traffic(), then DRAM
  /// bytes, then cycles, that takes at most (1 + slack) times the fewest cycles. Precondition: not
  /// empty.
  const Timed& chosen_tiling() const {
    if (!objective_.has_slack()) return *best_;
    return *std::ranges::min_element(within_, [](const Timed& a, const Timed& b) {
      const auto key = [](const Score& s) {
        return std::tie(s.energy_traffic, s.dram_bytes, s.cycles);
      };
      return key(a.score) < key(b.score);
    });
  }
  /// The best by the objective, whatever the slack. Precondition: not empty.
  const Timed& fastest_tiling() const { return *best_; }

 private:
  /// Is one as good as the other in all that slack looks at?
  static bool as_good(const Score& one, const Score& other) {
    return one.cycles <= other.cycles && std::tie(one.energy_traffic, one.dram_bytes) <=
                                             std::tie(other.energy_traffic, other.dram_bytes);
  }
  bool is_within_slack(int64_t cycles) const {
    return static_cast<double>(cycles) <=
           (1 + objective_.slack) * static_cast<double>(best_->score.cycles);
  }
  /// What differs between tilings is mostly time; other objectives look at all of them.
  bool excludes(int64_t bound) const {
    if (objective_.quantity != Objective::cycles || empty()) return false;
    return objective_.has_slack() ? !is_within_slack(bound) : bound >= best_->score.cycles;
  }

  const ObjectiveFunction objective_;
  std::optional<Timed> best_;  ///< by the objective
  /// Within the slack; none of them has fewer cycles and less energy_traffic().
  std::vector<Timed> within_;
};

}  // namespace accsim::sim
