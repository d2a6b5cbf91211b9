#pragma once
#include <array>
#include <functional>
#include <string_view>

#include "hw/program/program.h"

namespace accsim::hw {

/// What a queue waited for between two of its commands.
enum class Wait : uint8_t {
  dram_read,    ///< operands still on their way from DRAM
  dram_write,   ///< output slots not yet drained to DRAM
  shared,       ///< the same for the shared buffer, either way
  weight_load,  ///< stationary operands (weights, or activations) being shifted into the array
  array,        ///< results on their way through the array: fill, drain
  post,         ///< the post or vector unit
  slot,         ///< no free slot: the consumer still reads it
};
inline constexpr size_t kWaits = 7;
/// As reports spell it: "dram_read", "slot", ...
std::string_view name(Wait w);

/// How a queue spent its time, from cycle 0 to the end of its last command. Cycle 0 of a layer of a
/// network is the end of all layers before it; what a queue does for the layer before that is
/// hidden under those.
struct QueueTiming {
  Cycles busy;                         ///< sum of occupancies
  Cycles hidden;                       ///< of those, before cycle 0
  std::array<Cycles, kWaits> waits{};  ///< gaps before commands from cycle 0 on, by reason
  Cycles free_at;  ///< end of the last occupancy, or 0: busy - hidden + waits == free_at
};

/// How long a program takes, or a layer of a network, and what its queues waited for.
struct Timing {
  Cycles total;  ///< from cycle 0 until the last byte of the last store has arrived
  PerQueue<QueueTiming> queues{};

  const QueueTiming& queue(Queue q) const { return queues[q]; }
  /// Adds another part of a layer that comes in parts of a chain: sums of everything.
  Timing& operator+=(const Timing& o);
};

/// How simulate() gets through loops; the result is the same.
enum class TimingMode {
  step,      ///< every iteration of every loop, event by event: the oracle
  periodic,  ///< the same, but a loop whose iterations have become periodic is skipped ahead
};

/// A command with its first cycle, the cycle in which its result is visible, and the end of its
/// occupancy: the first cycle in which its queue is free again.
struct CommandTime {
  Queue queue;
  int64_t start = 0, finish = 0, end = 0;
};
/// Told of each timed command.
using CommandObserver = std::function<void(const CommandTime&)>;

/// Times a verified program on a machine. Both modes give the same result, exactly. One loop body
/// is a max-plus linear map x' = A (x) x, which commutes with adding a constant to every entry. So
/// once the state repeats up to a constant, it does so for ever (see simulator.h). `observer` is
/// told of every command in text order, apart from those that are skipped.
Timing simulate(const Program& program, const HwConfig& hw, TimingMode mode = TimingMode::periodic,
                const CommandObserver& observer = {});

}  // namespace accsim::hw
