#pragma once
#include "sim/report/report.h"
#include "sim/report/table.h"

namespace accsim::sim {

/// The layers of a cut model beside what they cost mapped natively, the total last.
TextTable cut_layer_table(const Report& report);

}  // namespace accsim::sim
