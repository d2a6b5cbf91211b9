#pragma once
#include "hw/dram/pattern.h"

namespace accsim {

struct DramEstimate {
  double clocks_per_burst = 0;  ///< of one channel, refresh included
  double activates_per_burst = 0;
  double efficiency = 0;  ///< bytes moved / bytes that the data buses could have moved
};

/// What run_stepped() measures of a long pattern, as a formula of the timings: no stepping, and
/// cost independent of run length and number of requests. In clocks a burst of one channel:
///
///   t = (max(window, bank, groups) + turns + stalls) / ((1 - refresh) x balance)
///
/// - A run of n bursts puts L = max(1, n / channels) on a channel and visits v rows there: with the
///   bank groups above the columns v = 1 + (L - 1) / K for K bursts a row; with the groups below,
///   min(L, G) + S / (G K), where S counts the visits that a row boundary splits over all
///   alignments. a = v / L activates a burst, s = L / v bursts a visit.
/// - bus = max(BL/2, tCCD_S), or the slots of the command bus when they are more; a one-bus device
///   whose column commands take c > 1 slots loses c (c - 1) / 2 / bus clocks to every row command.
/// - groups: with the groups high, neighbouring bursts are tCCD_L apart as long as the queue of N
///   shows one group only. A visit of q bursts of which y are left when it becomes the oldest runs
///   alone for max(0, y - N'), N' = N - 1 - tRCD / tCCD_L, and then shares the bus with min(y, N')
///   bursts of the next visits; visits of neighbouring runs fall into one group with chance 1/G.
///   The share of single-group bursts follows from this recursion over 256 runs.
/// - window: over the N bursts that a queue shows the longer of bus and activates counts, act =
///   max(tRRD_S, tFAW / 4) each; expected over how many of the N / L runs are split by a row's end
///   (binomial). bank = a R / banks with R = max(tRC, tRCD + visit + recovery + tRP).
/// - groups also bind when one direction of an even stream meets few of them: a quarter of writes
///   over four groups is all in one.
/// - stalls: of M banks (bank numbers, when the groups are low) the one of j runs ago is busy for
///   another g - j T, T a run's time and g = recovery + tRP + tRCD. The runs in the queue, or parts
///   of them between ends of rows, lie in random banks; the stall is the least of their waits,
///   expected.
/// - turns: a batch of B = max(32, L, L w / (1 - w)) writes, w their share, costs tRTW and CWL +
///   BL/2 + tWTR_S less a burst each, what of it activates don't hide within one window: the
///   difference of the window with and without it. Added is the wait of 1 + tRP + tRCD when all
///   runs that wait lie in places that the other queue uses (occupancy of M places by random
///   runs), or the part of it that a single ready run doesn't hide.
/// - refresh = (recovery + tRPab + tRFC + tRCD - bus) / tREFI.
/// - balance: runs that don't cover all channels alike let queues run empty while another is full:
///   1 - (H_channels - 1) / N for single bursts (H: harmonic number), less as runs grow.
///
/// N is 40 for reads, 64 for writes; recovery is tRTP, or CWL + BL/2 + tWR. Strided patterns have
/// no random places: instead of stalls and groups, the busiest bank or group of the busiest
/// channel bounds each stretch of 80 bursts, found by walking the first few thousand.
///
/// Accuracy against the stepped model (tests/hw/dram/closed_form_test.cpp): DDR4 and HBM2, random
/// runs all read or all written, and sequential streams: within 3 %. Not reached:
/// - Random runs of both directions, L about 12 to 128 bursts: up to 6 % low, HBM2 with the groups
///   low 9 %: at a turn runs are cut, and the rest of one finds its bank or group taken again.
/// - HBM2 mixed with L of 3, 4 or 12 to 16, where bus and activates are equally busy: 9 % low.
/// - LPDDR4, L of 1 to 3: up to 9 % low. Commands fill 14 of 16 clocks of its command bus, so that
///   activates and reads delay each other in a fixed rhythm. A priority for activates makes it
///   slower yet (12 clocks a burst for 9.9); adding the mean delay of both explains half.
/// - Sequential streams with the groups high, three quarters written: 10 %; some strides: 6 %.
DramEstimate estimate_dram(const DramSystem& system, const DramPattern& pattern);

}  // namespace accsim
