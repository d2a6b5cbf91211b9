#pragma once
#include <span>
#include <string>

#include "sim/cost/network_plan.h"
#include "sim/report/report.h"

namespace accsim::sim {

/// What a report says of a network and its layers on a machine before they are costed.
void describe_network(const PreparedNetwork& network, const Residency& residency,
                      const ModeChoice& modes, Report& r);

/// Adds what the layers cost one behind the other to their reports, and to the totals.
void add_costs(const SlackSchedule& found, std::span<const ChainOp> ops, const Lowered& lowered,
               Mapper& mapper, Report& r);

/// What the mappings were chosen by, for people.
std::string objective_text(const MapOptions& options);

}  // namespace accsim::sim
