#include "sim/map/product/tiling_choice.h"

#include <algorithm>
#include <tuple>

namespace accsim::sim {
namespace {

/// Is one as good as the other in all that slack looks at?
bool as_good(const Score& one, const Score& other) {
  return one.cycles <= other.cycles && std::tie(one.energy_traffic, one.dram_bytes) <=
                                           std::tie(other.energy_traffic, other.dram_bytes);
}

}  // namespace

bool TilingChoice::is_within_slack(const Score& score) const {
  return static_cast<double>(score.cycles) <=
         (1 + objective_.slack) * static_cast<double>(best_->score.cycles);
}

void TilingChoice::offer(const Tiling& tiling, const Cost& cost, const Score& score) {
  if (!best_ || score < best_->score) best_ = {tiling, cost, score};
  if (!objective_.has_slack() || !is_within_slack(score) ||
      std::ranges::any_of(within_, [&](const Timed& t) { return as_good(t.score, score); }))
    return;
  std::erase_if(within_, [&](const Timed& t) {
    return as_good(score, t.score) || !is_within_slack(t.score);
  });
  within_.push_back({tiling, cost, score});
}

Found TilingChoice::found_so_far() const {
  if (empty()) return {};
  Found out{.primary = best_->score.primary, .cycles = best_->score.cycles};
  if (!objective_.has_slack()) return out;
  const Score& least = chosen_tiling().score;
  out.energy_traffic = least.energy_traffic;
  out.energy_traffic_cycles = least.cycles;
  return out;
}

const TilingChoice::Timed& TilingChoice::chosen_tiling() const {
  if (!objective_.has_slack()) return *best_;
  return *std::ranges::min_element(within_, [](const Timed& a, const Timed& b) {
    const auto key = [](const Score& s) {
      return std::tie(s.energy_traffic, s.dram_bytes, s.cycles);
    };
    return key(a.score) < key(b.score);
  });
}

}  // namespace accsim::sim
