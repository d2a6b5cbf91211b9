#pragma once
#include "hw/dram/cost.h"

namespace accsim::hw {

/// What a strided transfer asks of its busiest channel, when transfers like it follow one another.
struct StridedCounts {
  double bursts = 0;     ///< of the whole transfer, all channels
  double activates = 0;  ///< likewise
  double clocks = 0;     ///< of the busiest channel, refresh included
};

/// Counts the columns and row visits of a transfer that isn't scattered, burst by burst: some
/// 4096 bursts, by which it is either cut off, or repeated: where the one before ends, or, where
/// runs reach every channel, beside it until their strides are full. A row stays open until
/// another one of its bank is wanted. A channel takes
///
///   max(n x max(BL/2, tCCD_S), n of one bank group x tCCD_L, activates x max(tRRD_S, tFAW / 4),
///       sum of a bank's visits of max(tRC, tRCD + (columns - 1) x tCCD_L + recovery + tRP))
///   / (1 - (recovery + tRPab + tRFC + tRCD - burst) / tREFI)
///
/// where runs that reach every channel count for each channel alike: their ends lie in other ones
/// from run to run.
StridedCounts count_strided(const DramSystem& system, const DramTransfer& transfer);

}  // namespace accsim::hw
