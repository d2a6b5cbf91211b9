#pragma once
#include <cstdint>

namespace accsim::sim {

/// A count in a formula of real numbers.
inline double real(int64_t count) { return static_cast<double>(count); }

}  // namespace accsim::sim
