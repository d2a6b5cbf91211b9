#pragma once
#include <span>
#include <string>

#include "hw/timing/timing.h"
#include "sim/report/report.h"

namespace accsim::sim {

/// What must hold of costs whatever the network and the machine are, in release builds too: where
/// it doesn't, check() stops the program, because some of the numbers are wrong.

/// Of an op's share of a chain, or of all shares of its pieces. Every cycle of every queue is
/// attributed: busy cycles that aren't hidden, and waits, are the time until it is free. No queue
/// is busy behind the end.
void check_attributed(const hw::Timing& timing);

/// Of the shares of a chain: no queue is busy for more cycles than all of them take. Sums beyond 64
/// bits are left to check_sums().
void check_busy(std::span<const hw::Timing> shares);

/// Of a report: totals are the sums of the layers', MACs, bytes and cycles each; every component's
/// energy is the totals' counts times the machine's table. Precondition: check_sums() is good.
void check_report(const Report& report);

}  // namespace accsim::sim
