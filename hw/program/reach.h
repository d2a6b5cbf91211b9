#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "hw/program/program.h"

namespace accsim::hw {

/// Sums and products of addresses, of either sign. What leaves 64 bits stays at their end, where it
/// is outside of every memory.
constexpr int64_t add_far(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}
constexpr int64_t multiply_far(int64_t a, int64_t b) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) != (b < 0) ? std::numeric_limits<int64_t>::min()
                            : std::numeric_limits<int64_t>::max();
}

/// First and last value of a sum of indices times strides, relative to where all indices are 0.
struct Reach {
  int64_t low = 0, high = 0;  ///< low <= 0 <= high

  /// An index of 0 .. count - 1; a single one says nothing of its stride.
  constexpr Reach& add_index(int64_t count, int64_t stride) {
    const int64_t last = multiply_far(add_far(count, -1), stride);
    int64_t& end = last < 0 ? low : high;
    end = add_far(end, last);
    return *this;
  }
};

/// Of indices below the counts times the strides.
template <size_t N>
constexpr Reach reach_over(const std::array<int64_t, N>& counts,
                           const std::array<int64_t, N>& strides) {
  Reach out;
  for (size_t i = 0; i < N; ++i) out.add_index(counts[i], strides[i]);
  return out;
}
/// Of the first bytes of a walk's runs.
inline Reach reach_over(const Walk& walk) {
  Reach out;
  for (const Walk::Level& l : walk.levels) out.add_index(l.count, l.stride);
  return out;
}

/// Product of counts; 0 when one of them is less than 1.
template <class Counts>
constexpr int64_t product_of(const Counts& counts) {
  int64_t out = 1;
  for (const int64_t n : counts) out = n < 1 ? 0 : multiply_far(out, n);
  return out;
}
/// Bytes of a walk; 0 when one of its counts, or the run, is less than 1.
inline int64_t bytes_of(const Walk& walk) {
  int64_t out = walk.run < 1 ? 0 : walk.run;
  for (const Walk::Level& l : walk.levels) out = l.count < 1 ? 0 : multiply_far(out, l.count);
  return out;
}

/// Levels of the core's walks around a run; the model's have up to 8.
inline constexpr size_t kWalkLevels = 6;
/// Elements of all rows of a LaneCommand or RowCommand together, at most.
inline constexpr int64_t kMostElements = (int64_t{1} << 31) - 1;

}  // namespace accsim::hw
