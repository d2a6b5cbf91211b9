#pragma once
#include "hw/dram/controller.h"
#include "hw/dram/pattern.h"

namespace accsim::hw {

/// What run_stepped() measured.
struct DramRun {
  int64_t bursts = 0;
  int64_t clocks = 0;     ///< until the last data
  DramCounts counts;      ///< of all channels together
  double efficiency = 0;  ///< bytes moved / bytes that the data buses could have moved
};

/// Moves `bursts` bursts of the pattern, command by command. One requester feeds all channels in
/// order and stops at the first request whose queue is full; it is never the limit otherwise. The
/// result depends on the arguments alone. `observer` sees every command, by channel in order of
/// time.
DramRun run_stepped(const DramSystem& system, const DramPattern& pattern, int64_t bursts,
                    uint64_t seed = 1, const DramObserver& observer = {});

}  // namespace accsim::hw
