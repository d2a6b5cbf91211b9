#pragma once
#include "hw/dram/cost.h"

namespace accsim::hw {

/// Bursts of one direction that are counted, at least: four times what the queues hold, so that
/// chance evens out among the banks. Up to four times as many, until there are three whole
/// transfers.
int64_t counted_bursts(const DramSystem& system, bool write);

/// Counts the columns and row visits of a transfer that isn't scattered and of those that follow
/// it, burst by burst, counted_bursts() of them.
///
/// A channel's queue shows it Q bursts (kDramReadQueue, kDramWriteQueue). So a visit of a row goes
/// on until another row of its bank is wanted, and has all that is wanted of the row up to Q bursts
/// of the channel behind its first. A channel takes
///
///   max(n x max(BL/2, tCCD_S), n of one bank group x tCCD_L, activates x max(tRRD_S, tFAW / 4),
///       sum of a bank's visits of max(tRC, tRCD + (columns - 1) x tCCD_L + recovery + tRP))
///
/// for n bursts, evenly: t a burst. Bursts go to the channels in order, and where one's queue is
/// full all that come behind it wait: burst j enters at E(j) = max(E(j - 1), when the burst of its
/// channel that is Q before it has been served). So the busiest channel decides, but for what the
/// others have left to do in the meantime. `clocks` is what E grows by over the transfers behind
/// the first (an even number), or over runs where there are fewer than three.
///
/// A controller that takes turns between directions serves batches (kDramLeastBatch), and while
/// one waits for its banks the bus waits with it. So `bus` is the same with what a channel's
/// batches hold the bus for: n x max(BL/2, tCCD_S), or if that is more the other terms less, in
/// every batch, the clocks of both turns, in which banks and activates go on. Less, too, the
/// activates that were done ahead of it: in banks that a stream of the other direction doesn't
/// want, of which its queue shows G + (Q - 1) / K for G bank groups below the columns (1 when they
/// are above) and K bursts a row; the stream opens as many again. tests/hw/dram/cost_test.cpp has
/// how far off that is.
///
/// Both are divided by
///
///   1 - (recovery + tRPab + tRFC + tRCD - burst) / tREFI
StridedCounts count_strided(const DramSystem& system, const DramTransfer& transfer);

/// The first step of it: the walk. Transfers that count_key() has one key for have the same rates.
StridedRates strided_rates(const DramSystem& system, const DramTransfer& transfer);
/// The second: what the whole transfer has of them.
StridedCounts scaled_counts(const StridedRates& rates, const DramTransfer& transfer);

/// What the walk sees of a transfer: runs, and of levels and loops as much as it goes through.
std::vector<int64_t> count_key(const DramSystem& system, const DramTransfer& transfer);

}  // namespace accsim::hw
