#pragma once
#include <memory>
#include <vector>

#include "sim/schedule/schedule.h"

namespace accsim::sim {

/// A network put together from mappings, and those that it was put together from in the end.
struct SlackSchedule {
  Schedule schedule;
  std::vector<std::shared_ptr<const Mapping>> mappings;  ///< by op
  int64_t fewest = 0;                                    ///< cycles without any slack
};

/// Puts a network together whose products may have taken slack. Programs overlap, so that each
/// within the slack doesn't make their chain so: where it takes more than (1 + slack) times the
/// cycles that it takes when every product has its fewest, or no less energy, products go back to
/// those; first the ones that cost the most cycles for what they save. Where that leaves
/// room, products that move tensors more than once go beyond their own slack, in the same way. So a
/// network takes at most (1 + slack) times the cycles that it takes without.
SlackSchedule schedule_within_slack(const ScheduleInput& input);

}  // namespace accsim::sim
