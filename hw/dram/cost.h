#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "hw/config/hw_config.h"
#include "hw/dram/pattern.h"

namespace accsim::hw {

/// Bus time is counted in ticks: parts of a cycle of the machine.
inline constexpr int64_t kDramTicks = 8;

/// What a transfer costs a machine's DRAM.
struct DramCost {
  int64_t bus = 0;      ///< ticks of bus time, of all channels together
  int64_t latency = 0;  ///< cycles from then until the last byte has arrived
  /// Cycles that its banks take for it, where that is more than the bus does; else 0.
  int64_t alone = 0;
  friend bool operator==(const DramCost&, const DramCost&) = default;
};

/// How the bytes of a transfer lie in memory: contiguous runs in nested levels, outermost first.
struct DramTransfer {
  struct Level {
    int64_t count, stride;  ///< stride in bytes
  };
  std::span<const Level> levels;
  int64_t run = 0;  ///< bytes of a run
  bool write = false;
  bool scattered = false;  ///< the runs lie at random places: levels say only how many
  /// How transfers like it follow one another: loops around it, outermost first, and by how many
  /// bytes they move it. Behind the last of them, and without loops, the next one begins where the
  /// one before ends.
  std::span<const Level> around = {};
};

/// What a burst of a strided transfer asks of a DRAM, when transfers like it follow one another.
struct StridedRates {
  double run_bursts = 0;       ///< bursts of a run, in the mean
  double activates = 0;        ///< per burst
  double bus = 0, clocks = 0;  ///< per burst, without refresh
  double refresh = 0;          ///< the part of the time that is left beside it
  int64_t counted = 0;         ///< bursts that were gone through for it
};
/// What a strided transfer asks of a DRAM, when transfers like it follow one another.
struct StridedCounts {
  double bursts = 0;     ///< of the whole transfer, all channels
  double activates = 0;  ///< likewise
  double bus = 0;        ///< clocks for which it holds the channels' buses, refresh included
  double clocks = 0;     ///< that it takes alone, likewise
};

/// The machine's DRAM as hw/dram sees it. `hw.dram_model` must be banked.
DramSystem dram_system(const HwConfig& hw);

/// Costs of transfers of one machine with a banked DRAM. Made once a machine (about 100
/// microseconds); then a transfer is a formula, and of a strided one a count that is remembered.
///
/// The contract for a timing model: reads and writes share one data bus, the channels' together
/// (hw/timing/bus.h). A transfer takes `bus` ticks of it, whoever is there first, and its queue for
/// `alone` cycles if they are more; its last byte arrives `latency` cycles after that. Between
/// transfers of different directions the bus idles for turn_ticks(): tRTW less a burst to write,
/// CWL + tWTR_S to read.
///
/// - The transfers of a walk continue one another: a contiguous one finds its rows open, as in a
///   stream without end, and takes its share of that stream's time. Whole bursts are moved: of a
///   run of r bytes that begins at multiples of g (what r, the strides and a burst of B bytes are
///   all multiples of) 1 + (r - g) / B, expected.
/// - A strided one takes what its busiest channels take, as far as their queues don't reach into
///   the transfers behind it (count_strided()). The bus is held for what its batches take that
///   wait for bank groups, activates and banks, too; what those take beyond that is `alone`: cycles
///   in which its queue is busy, but the bus is for others.
/// - Runs at random places take n x estimate_dram().clocks_per_burst / channels; between run
///   lengths of 1, 2, 4, ... bursts the time of a run is interpolated linearly.
/// - Where tensors lie is taken to be a good allocator's choice: what is written half of the banks
///   away from what is read beside it. Two streams of one length that pass through the same banks
///   side by side take up to 14 % longer (DDR4; 4 % in the mean of random places).
/// - Refresh is a part of all of these times. Bus time is rounded to whole ticks, and is at least
///   what the peak rate (hw.dram) asks for. latency is hw.dram.latency (a row conflict and the
///   burst); queueing is part of the bus time.
class DramCosts {
 public:
  explicit DramCosts(const HwConfig& hw);

  /// Bytes of it >= 0; no bytes cost nothing.
  DramCost transfer_cost(const DramTransfer& transfer);
  /// Ticks for which the bus idles before it goes on in that direction, from the other one.
  int64_t turn_ticks(bool to_write) const { return turns_[to_write]; }
  /// A kind of strided transfers whose bursts were gone through one by one.
  struct Walk {
    uint64_t kind = 0;  ///< a hash of what the walk sees
    int64_t bursts = 0;
  };
  /// One for each kind that was met, in the order in which they were.
  std::span<const Walk> walks() const { return walks_; }

 private:
  static constexpr size_t kLengths = 24;  ///< 1 .. 2^23 bursts
  double scattered_clocks(const DramTransfer& t, double runs) const;
  StridedCounts strided_counts(const DramTransfer& t);

  DramSystem system_;
  ByteRate peak_;
  double cycles_per_clock_;
  int64_t latency_;
  std::array<int64_t, 2> turns_{};
  std::array<double, 2> stream_{};  ///< clocks a burst of a stream of all channels: read, write
  std::array<std::array<double, kLengths>, 2> random_{};  ///< clocks of a run of 2^i bursts
  std::map<std::vector<int64_t>, StridedRates> strided_;  ///< of those seen so far
  std::vector<Walk> walks_;
};

}  // namespace accsim::hw
