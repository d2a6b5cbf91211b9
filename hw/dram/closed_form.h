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
///   t = max(bus + turns + stalls, act, bank) / ((1 - refresh) x balance)
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
/// - act = a max(tRRD_S, tFAW / 4); bank = a R / banks with R = max(tRC, tRCD + visit + recovery +
///   tRP).
/// - stalls: of M banks (bank numbers, when the groups are low) the one of j runs ago is busy for
///   another g - j T, T a run's time and g = recovery + tRP + tRCD. The N / L runs in the queue
///   lie in random banks; the stall is the least of their waits, expected.
/// - turns: a batch of B = max(32, L) writes costs tRTW + (CWL + BL/2 + tWTR_S) - 2 bus, each gap
///   at least tRP + tRCD + 1 when the queue served before wanted that bank (chance 1 - (1 -
///   1/M)^(N/L)); a batch also lasts as long as its fullest bank (expected maximum of B/L balls in
/// M bins) x R.
/// - refresh = (recovery + tRPab + tRFC + tRCD - bus) / tREFI.
/// - balance: runs that don't cover all channels alike let queues run empty while another is full:
///   1 - (H_channels - 1) / N for single bursts (H: harmonic number), less as runs grow.
///
/// N is 40 for reads, 32 for writes; recovery is tRTP, or CWL + BL/2 + tWR. Strided patterns have
/// no random places: instead of stalls and groups, the busiest bank or group of the busiest
/// channel bounds each stretch of 2 N bursts, found by walking the first few thousand.
///
/// Accuracy against the stepped model (tests/hw/dram/closed_form_test.cpp): sequential streams and
/// random runs of reads within 3 % (short runs on LPDDR4, where banks, activates and command bus
/// are all nearly full, within 9 %); of writes mostly within 3 %, at worst 13 % there; mixed
/// random runs, which depend on how both queues compete for banks, are an estimate: mostly within
/// 5 %, at worst 18 %.
DramEstimate estimate_dram(const DramSystem& system, const DramPattern& pattern);

}  // namespace accsim
