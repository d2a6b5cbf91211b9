#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "hw/cosim/bench_memory.h"
#include "hw/cosim/dram.h"

namespace accsim::hw {

/// What is at a core's memory ports: DRAM and the shared buffer, at the machine's pace. Each take_
/// function sees what the core shows in a cycle and says why it can't be done; empty: it can.
class MemoryPorts {
 public:
  /// All live as long as this.
  MemoryPorts(const Program& program, const HwConfig& hw, MemoryImage& image);

  /// A beat of a store: `io.write_ready` says whether it is taken. It isn't in memory yet.
  std::string_view take_write(rtl::Cycle& io, int64_t cycle);
  /// A beat of a copy, likewise: `io.copy_ready`.
  std::string_view take_copy(rtl::Cycle& io, int64_t cycle);
  /// A beat of a load: `io.read_ready`.
  std::string_view take_read(rtl::Cycle& io, int64_t cycle);
  /// What is due by a cycle is in memory then, and the core hears of it.
  void deliver_writes(rtl::Cycle& io, int64_t cycle);
  /// Data of reads that arrive in a cycle.
  void return_data(rtl::Cycle& io, int64_t cycle);

  /// From when the last beat of a store, or of a copy, is taken until it is in memory: cycles.
  int64_t store_latency() const { return latency(stored_to_); }
  int64_t copy_latency() const { return latency(MemoryId::dram) + latency(MemoryId::shared); }
  /// Offset in a tensor of what the core writes to an address.
  int64_t offset_in(int tensor, uint64_t address) const {
    return memory_.offset_in(tensor, address);
  }
  /// The first request that the core has changed before it was taken; empty: none.
  const std::string& changed() const { return changed_; }

 private:
  template <class T>
  void check_stable(const T& now, bool taken, T& untaken, std::string_view what, int64_t cycle);
  int64_t latency(MemoryId m) const { return hw_.memory(m).channel.latency; }

  const HwConfig& hw_;
  BenchMemory memory_;
  PerMemory<PacedChannel> reads_, writes_;
  PerMemory<ReturnPath> returns_;
  PerMemory<WritePath> stored_;
  WritePath copied_;
  rtl::Request untaken_read_, untaken_write_;
  rtl::Copy untaken_copy_;
  MemoryId stored_to_ = MemoryId::dram;  ///< by the latest write
  std::string changed_;
};

}  // namespace accsim::hw
