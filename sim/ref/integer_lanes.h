#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sim/work/lane_work.h"

namespace accsim::sim::ref {

/// A multiplier and the shift (0 .. 62) behind it.
struct IntegerScale {
  int32_t multiplier = 1, shift = 0;
};

/// Operands of a LaneWork and what their values mean.
struct IntegerLanes {
  sim::LaneWork work;
  std::span<const int8_t> a, b;  ///< b: empty where there is none
  int32_t a_zero = 0, b_zero = 0, b_multiplier = 1;
  IntegerScale scale;  ///< of a, or of the product of both; the shift is that of the whole
  std::function<IntegerScale(int64_t)> mean;  ///< instead of it, of means of so many elements
  int32_t out_zero = 0, low = -128, high = 127;
  std::span<const int8_t> table;  ///< entry v + 128 of the int8 v; empty: none
};

/// The result, dense, by the contract's arithmetic.
std::vector<int8_t> integer_lanes(const IntegerLanes& p);

}  // namespace accsim::sim::ref
