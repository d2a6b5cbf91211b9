#pragma once
#include <cstdint>
#include <string_view>

#include "sim/base/id.h"
#include "sim/base/units.h"

namespace accsim::hw {

/// Bytes per cycle, exact to a thousandth so that RTL and model round alike.
struct ByteRate {
  int64_t milli = 0;  ///< thousandths of a byte per cycle; > 0

  /// Cycles that `bytes` occupy a channel of this rate: ceil(bytes / rate).
  int64_t cycles(int64_t bytes) const {
    return bytes / milli * 1000 + ceil_div(bytes % milli * 1000, milli);
  }
  double value() const { return static_cast<double>(milli) / 1000.0; }
  friend bool operator==(ByteRate, ByteRate) = default;
};

/// Rates and latency of a memory outside the slots. Each direction is one in-order pipelined
/// channel: a transfer of B bytes occupies it for ceil(B / rate) cycles, and its last byte arrives
/// `latency` cycles later.
struct ChannelConfig {
  ByteRate read, write;
  int64_t latency = 0;  ///< cycles
};

/// Names a memory outside the slots. A tensor lies in one of them.
class MemoryId : public Id<MemoryId, 2> {
 public:
  constexpr MemoryId() = default;
  static const MemoryId dram, shared;
};
inline constexpr MemoryId MemoryId::dram = nth(0);
inline constexpr MemoryId MemoryId::shared = nth(1);
/// A T for each memory.
template <class T>
using PerMemory = PerId<MemoryId, T>;
/// As printed programs and reports spell it: "dram", "shared".
std::string_view name(MemoryId m);

/// What a machine has as a memory: a row of its list, HwConfig::memory().
struct Memory {
  std::string_view words;                ///< "DRAM", "the shared buffer"
  int64_t bytes = 0;                     ///< that tensors may take; 0: the machine hasn't got it
  const ChannelConfig& channel;          ///< lives as long as the machine
  bool banked = false;                   ///< times depend on where bytes lie: hw/dram/cost.h
  bool one_bus = false;                  ///< reads and writes take turns
  double read_byte = 0, write_byte = 0;  ///< picojoules

  ByteRate rate(bool write) const { return write ? channel.write : channel.read; }
};

}  // namespace accsim::hw
