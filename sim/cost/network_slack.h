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

/// Puts a network together whose products may have taken slack. Programs overlap, so products that
/// are each within the slack may give a network that isn't. If the network takes more than (1 +
/// slack) times its cycles with the fewest of every product, or doesn't need less energy, products
/// go back to their fewest cycles. Those that cost the most cycles per saving go first. If there is
/// room left, products that move tensors more than once go beyond their own slack, in the same way.
/// So a network takes at most (1 + slack) times the cycles that it takes without slack.
SlackSchedule schedule_within_slack(const ScheduleInput& input);

}  // namespace accsim::sim
