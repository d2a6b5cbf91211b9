#pragma once
#include "sim/map/mapper.h"
#include "sim/report/report.h"

namespace accsim::sim {

/// What one mapped op costs, as the report counts it, with its timing: alone, or its share of a
/// chain. The op's main unit (the array, else the vector unit, else the load engine) splits its
/// cycles into busy, stalls by reason, and the tail behind it.
Costs item_costs(const OpRequest& request, const Mapping& mapping, const hw::Timing& timing,
                 const hw::HwConfig& hw);

}  // namespace accsim::sim
