#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "hw/timing/bus.h"
#include "hw/timing/steps.h"

namespace accsim::hw {

/// Tokens of one kind under way, oldest first.
struct TokenRing {
  /// Slots of a buffer or region; hw/config and verify() allow no more.
  static constexpr size_t kMostTokens = kMostRegionSlots;

  std::array<int64_t, kMostTokens> events;
  uint32_t head, size;

  int64_t& at(uint32_t i) { return events[(head + i) % kMostTokens]; }
  int64_t at(uint32_t i) const { return events[(head + i) % kMostTokens]; }
};

/// All that what comes next in a simulation depends on.
struct SimulatorState {
  std::array<int64_t, kMoments> moments;
  std::array<TokenRing, kRings> rings;
  Bus bus;                           ///< of a DRAM that reads and writes share
  std::vector<int64_t> marks;        ///< by tensor: when all of its marks are reached
  std::optional<Dataflow> dataflow;  ///< of the gemm before
  int64_t end = 0;
};

/// Of a queue: busy, hidden, waits by reason.
inline constexpr size_t kQueueSums = 2 + kWaits;
/// Cycles << kWhyBits.
using CycleSums = PerQueue<std::array<int64_t, kQueueSums>>;

}  // namespace accsim::hw
