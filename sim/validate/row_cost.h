#pragma once
#include "sim/report/report.h"

namespace accsim::sim {

/// What a row of a table costs on a machine that the row itself says.
struct RowCost {
  double cycles = 0;          ///< an estimate may have fractions
  Bound bound = Bound::none;  ///< what decides the cycles, where its rules say that
};

}  // namespace accsim::sim
