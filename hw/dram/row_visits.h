#pragma once
#include "hw/dram/pattern.h"

namespace accsim::hw {

/// A count in a formula of real numbers.
inline double real(int64_t value) { return static_cast<double>(value); }

/// A pattern as one channel's banks see it, on average over all places where runs may begin.
struct RowVisits {
  double bursts = 1;     ///< of a run, on this channel
  double activates = 1;  ///< row visits a burst
  double bursts_a_visit = 1;
  double groups_used = 1;  ///< groups that a run touches at the same time
  double places = 1;       ///< disjoint sets of banks in which a run may lie
  double part = 1;         ///< bursts of a run between ends of rows
  double split = 0;        ///< chance that a row ends inside a run
  double unsplit = 1;      ///< row visits of a run in which none ends
  bool groups_high = false;
  bool endless = false;  ///< one sequential run
};

/// Counts without walking the pattern, which mustn't be strided.
RowVisits count_row_visits(const DramSystem& system, const DramPattern& pattern);

/// Of a stream of such runs with the groups above the columns: the share of bursts during which the
/// queue, `ahead` bursts deep, shows one bank group only.
double single_group_share(const DramDevice& device, const RowVisits& visits, double ahead);

}  // namespace accsim::hw
