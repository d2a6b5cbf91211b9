#pragma once
#include <algorithm>
#include <random>
#include <utility>

#include "hw/random/draw.h"

namespace accsim::hw {

/// What random programs are drawn by. The order of the draws is the contract: a draw more, or one
/// before another, and every seed stands for another program.
class Dice {
 public:
  explicit Dice(std::mt19937& random) : random_(random) {}

  /// A number of low .. high, all of them as likely; `low` when that is more.
  int64_t pick(int64_t low, int64_t high) const {
    return draw_number(random_, low, std::max(low, high));
  }
  /// The same as 32 bits, which hold the limits.
  int32_t number(int64_t low, int64_t high) const { return static_cast<int32_t>(pick(low, high)); }
  /// Is it this one of n as likely things?
  bool one_in(int64_t n) const { return pick(1, n) == 1; }
  /// For what draws by itself.
  std::mt19937& generator() const { return random_; }

  /// Zero point of an int8 tensor.
  int32_t zero_point() const { return number(-128, 127); }
  /// Lowest and highest result: mostly all of -most - 1 .. most, or a part of it.
  std::pair<int32_t, int32_t> pick_limits(int64_t most) const {
    if (!one_in(3)) return {static_cast<int32_t>(-most - 1), static_cast<int32_t>(most)};
    const int32_t low = number(-most - 1, 20);
    return {low, number(low, most)};
  }

 private:
  std::mt19937& random_;
};

}  // namespace accsim::hw
