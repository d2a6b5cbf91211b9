#pragma once
#include <cstdint>
#include <span>

#include "sim/map/mapping.h"

namespace accsim::sim {

/// As far as stamped times and counts of an engine's layers reach.
inline constexpr int64_t kMostEngineCycles = int64_t{1} << 38;

/// An op that is no program, but layers of an engine from DRAM to DRAM. It takes these cycles. In a
/// network it begins when all that it reads is there, and no load runs beside it. Writes the
/// mapping's trace and timing.
void write_engine_steps(std::span<const Place> reads, std::span<const Place> writes, int64_t cycles,
                        const hw::HwConfig& hw, Mapping& m);

}  // namespace accsim::sim
