#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "hw/config/hw_config.h"
#include "hw/dram/pattern.h"

namespace accsim::hw {

/// What a transfer costs a machine's DRAM, in cycles of the machine.
struct DramCost {
  int64_t occupancy = 0;  ///< how long the direction's channel is busy
  int64_t latency = 0;    ///< from then until the last byte has arrived
  friend bool operator==(const DramCost&, const DramCost&) = default;
};

/// The machine's DRAM as hw/dram sees it. `hw.dram_model` must be banked.
DramSystem dram_system(const HwConfig& hw);

/// Costs of transfers of one machine with a banked DRAM, by the closed form. Made once a machine
/// (about 100 microseconds); then every transfer is a table look-up.
///
/// The contract for a timing model: each direction is one in-order pipelined channel, as with the
/// ideal DRAM; a transfer occupies its direction's channel for `occupancy` cycles and its last
/// byte arrives `latency` cycles later. The two directions share the data bus by the fixed ratio
/// `read_share`, so they may overlap freely: together they never move more than the bus can.
///
/// - A transfer of runs of `run_bytes` each, at random places of the memory, moves ceil(run /
///   burst) bursts a run (runs begin at a burst) and takes n x estimate_dram().clocks_per_burst /
///   channels of DRAM time, divided by the direction's share. Between run lengths of 1, 2, 4, ...
///   bursts the time of a run is interpolated linearly.
/// - Turning the bus round isn't charged: a transfer is a tile, and from 256 bursts a channel
///   on a turn is worth less than two percent of it.
/// - Deterministic; occupancy never decreases when bytes or the length of a single run increase;
///   it is at least what hw.dram.read or hw.dram.write asks for. latency is hw.dram.latency (a row
///   conflict and the burst); queueing is part of occupancy.
class DramCosts {
 public:
  explicit DramCosts(const HwConfig& hw);

  /// `bytes` >= 0; `run_bytes` outside 1 .. bytes means one run. 0 bytes cost nothing.
  DramCost transfer(int64_t bytes, int64_t run_bytes, bool write) const;

 private:
  static constexpr size_t kLengths = 24;  ///< 1 .. 2^23 bursts
  double run_cycles(int64_t bursts, bool write) const;

  int64_t burst_bytes_, latency_;
  std::array<std::array<double, kLengths>, 2> cycles_{};  ///< of a run of 2^i bursts: read, write
};

}  // namespace accsim::hw
