#pragma once
#include "sim/map/mapper.h"
#include "sim/report/report.h"

namespace accsim::sim {

/// What of an op's programs, or of the pieces of one, its costs follow from.
struct ItemWork {
  hw::Counts counts;
  Cycles alone;       ///< of the whole op on a machine at rest
  hw::Timing timing;  ///< alone, or their shares of a chain
};

/// What one mapped op costs, as the report counts it. The op's main unit (the array, else the
/// vector unit, else the load engine) splits its cycles into busy, stalls by reason, and the tail
/// behind it.
Costs item_costs(const OpRequest& request, const ItemWork& work, const hw::HwConfig& hw);

}  // namespace accsim::sim
