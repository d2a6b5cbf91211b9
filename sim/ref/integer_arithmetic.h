#pragma once
#include <algorithm>
#include <cstdint>

namespace accsim::sim::ref {

/// value / 2^shift to the nearest integer, halves away from zero. shift: 0 .. 62.
constexpr int64_t rounded_shift(int64_t value, int32_t shift) {
  const int64_t half = (int64_t{1} << shift) / 2;
  return value < 0 ? -((half - value) >> shift) : (value + half) >> shift;
}

/// The nearer limit where the value lies outside.
constexpr int32_t clamp_int32(int64_t value, int32_t low, int32_t high) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, low, high));
}

}  // namespace accsim::sim::ref
