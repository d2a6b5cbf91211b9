#pragma once
#include <cstdint>
#include <random>
#include <vector>

#include "tests/support/index.h"

namespace accsim::test {

/// Numbers for random commands: now and then the ends of what is possible.
class Draws {
 public:
  explicit Draws(unsigned seed) : random_(seed) {}

  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  bool one_in(int64_t n) { return pick(1, n) == 1; }
  int32_t number(int64_t low, int64_t high) {
    const int64_t kind = pick(0, 9);
    return static_cast<int32_t>(kind == 0 ? low : kind == 1 ? high : pick(low, high));
  }
  std::vector<int> bytes(int64_t n) {
    std::vector<int> out(as_index(n));
    for (int& v : out) v = number(-128, 127);
    return out;
  }

 protected:
  std::mt19937 random_;
};

}  // namespace accsim::test
