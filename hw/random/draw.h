#pragma once
#include <cstdint>
#include <random>

namespace accsim::hw {

/// A number of low .. high, all of them as likely.
inline int64_t draw_number(std::mt19937& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

}  // namespace accsim::hw
