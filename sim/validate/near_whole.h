#pragma once
#include <cmath>

namespace accsim::sim {

/// So near to a whole number, as a part, arithmetic on decimals comes: 1000 * 2.01 isn't 2010.
inline constexpr double kRounding = 1e-12;

/// The whole number that a value is but for rounding; the value itself where there is none.
inline double near_whole(double value) {
  const double whole = std::round(value);
  return std::abs(value - whole) <= kRounding * std::abs(whole) ? whole : value;
}

}  // namespace accsim::sim
