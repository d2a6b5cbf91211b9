#pragma once
#include <cstdint>
#include <limits>

namespace accsim {

/// Sums and products of counts (>= 0) that a model may take beyond 64 bits. They stop at kBeyond
/// and stay there; who sums refuses the input (Errc::overflow) when that is what came out, so that
/// no one ever sees it. Where an input can't get that far, Quantity (units.h) stops the program.
inline constexpr int64_t kBeyond = std::numeric_limits<int64_t>::max();

/// Sum of two counts that aren't negative; kBeyond once it leaves 64 bits.
constexpr int64_t add_counts(int64_t a, int64_t b) {
  int64_t sum = 0;
  const bool beyond = a == kBeyond || b == kBeyond || __builtin_add_overflow(a, b, &sum);
  return beyond ? kBeyond : sum;
}
/// Product of two counts that aren't negative; kBeyond once it leaves 64 bits.
constexpr int64_t multiply_counts(int64_t a, int64_t b) {
  int64_t product = 0;
  if (a == 0 || b == 0) return 0;
  const bool beyond = a == kBeyond || b == kBeyond || __builtin_mul_overflow(a, b, &product);
  return beyond ? kBeyond : product;
}

}  // namespace accsim
