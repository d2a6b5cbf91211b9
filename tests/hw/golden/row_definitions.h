#pragma once
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

/// What the tests of row operations expect by: definitions in integers of any size needed.
namespace accsim::test {

__extension__ using Wide = __int128;

using Row = std::vector<int8_t>;

/// value / 2^shift rounded, by the definition: the nearest integer, the outer one of two.
inline Wide rounded(Wide value, int shift) {
  const Wide divisor = Wide{1} << shift, size = value < 0 ? -value : value;
  const Wide whole = size / divisor, rest = size % divisor;
  const Wide result = whole + (2 * rest >= divisor ? 1 : 0);
  return value < 0 ? -result : result;
}

/// a / b rounded in the same way, b > 0.
inline int64_t nearest(int64_t a, int64_t b) {
  const int64_t size = a < 0 ? -a : a, result = (2 * size + b) / (2 * b);
  return a < 0 ? -result : result;
}

inline int8_t clipped(int64_t value) {
  return static_cast<int8_t>(std::clamp<int64_t>(value, -128, 127));
}

inline Row random_row(std::mt19937& random, size_t length) {
  Row row(length);
  for (int8_t& x : row) x = static_cast<int8_t>(random());
  return row;
}

}  // namespace accsim::test
