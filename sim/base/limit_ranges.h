#pragma once
#include <cstdint>

namespace accsim {

/// What the options of limits.h may be set to at most: a count, and MiB.
inline constexpr int64_t kMostLimit = 1'000'000'000, kMostLimitMib = int64_t{1} << 20;

}  // namespace accsim
