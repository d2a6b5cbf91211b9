#pragma once
#include "hw/dram/pattern.h"

namespace accsim::hw {

/// Sustained rates of a pattern, as estimate_dram() gives them.
struct DramEstimate {
  double clocks_per_burst = 0;  ///< of one channel, refresh included
  double activates_per_burst = 0;
  double efficiency = 0;  ///< bytes moved / bytes that the data buses could have moved
};

/// What run_stepped() measures of a long pattern, as a formula of the timings: no stepping, and
/// cost independent of run length and number of requests. In clocks a burst of one channel, r and w
/// being the shares of reads and writes:
///
///   t = (r x t_read + w x t_write + turns) / (1 - refresh)
///   t_read, t_write = max(max(window, bank, groups) + stall, network)
///
/// - A run of n bursts puts L = max(1, n / channels) on a channel and visits v rows there: with the
///   bank groups above the columns v = 1 + (L - 1) / K for K bursts a row; with the groups below,
///   min(L, G) + S / (G K), where S counts the visits that a row boundary splits over all
///   alignments. a = v / L activates a burst, s = L / v bursts a visit.
/// - bus = max(BL/2, tCCD_S), or the slots of the command bus when they are more; act =
///   max(tRRD_S, tFAW / 4) between activates, or more where commands take several clocks and an
///   activate always meets a column command (Formula::spacing).
/// - window: over the N bursts that a queue shows the longer of bus and activates, expected over
///   how many of the N / L runs are split by a row's end (binomial). bank = a R / banks with R =
///   max(tRC, tRCD + visit + recovery + tRP).
/// - groups: with the groups high, neighbouring bursts are tCCD_L apart as long as the queue shows
///   one group only. A visit of q bursts of which y are left when it becomes the oldest runs alone
///   for max(0, y - N'), N' = N - 1 - opening / tCCD_L, and then shares the bus with min(y, N')
///   bursts of the next visits; visits of neighbouring runs fall into one group with chance 1/G.
///   The share of single-group bursts follows from this recursion over 256 runs. Groups also bind
///   when one direction of an even stream meets few of them: a quarter of writes over four groups
///   is all in one.
/// - stall: of M banks (bank numbers, when the groups are low) the one of j runs ago is busy for
///   another g - j T, T a run's time and g = recovery + tRP + tRCD. The runs in the queue, or parts
///   of them between ends of rows, lie in random banks; the stall is the least of their waits,
///   expected.
/// - network: where commands take several clocks of one bus, the runs that a queue shows circulate
///   through banks, activates and bus (Formula::closed_network).
/// - turns: a pair of batches costs tRTW and CWL + BL/2 + tWTR_S less a burst each, what of it
///   activates don't hide: the difference of the window with and without it. Added is the wait of
///   1 + tRP + tRCD when all runs that wait lie in places that the other queue uses (occupancy of M
///   places by random runs), or the part of it that a single ready run doesn't hide, less what the
///   ends of runs just before the turn save. A stream opens its rows once for each direction.
/// - refresh = (recovery + tRPab + tRFC + tRCD - bus) / tREFI.
///
/// N is 40 for reads, 64 for writes; recovery is tRTP, or CWL + BL/2 + tWR. Strided patterns meet
/// banks, groups and channels in an order of their own, for which there is no formula: their
/// beginning is stepped, 32,768 bursts a channel.
///
/// Accuracy against the stepped model (tests/hw/dram/closed_form_test.cpp): within three percent.
DramEstimate estimate_dram(const DramSystem& system, const DramPattern& pattern);

}  // namespace accsim::hw
