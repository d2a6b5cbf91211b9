#include "sim/compare/run_side.h"

#include "hw/config/fields.h"
#include "hw/config/values.h"

namespace accsim::sim {

RunSide run_side(const Report& report) {
  RunSide out;
  out.model_name = report.model_name;
  out.model_file = report.model_file;
  out.machine_name = report.hw.name;
  out.machine_file = report.hw.file;
  out.objective = report.objective;
  out.clock_mhz = report.hw.clock_mhz;
  out.rows = report.hw.array.rows;
  out.cols = report.hw.array.cols;
  out.macs = report.totals.macs;
  out.cycles = report.totals.cycles;
  out.energy_pj = report.totals.energy.total_pj();
  out.area_mm2 = report.area_mm2;
  hw::HwConfig hw = report.hw;  // the table's accessors give references to change
  for (const hw::Field& field : hw::fields())
    if (changes_costs(field) && (!field.only || field.only->holds(hw)) && !is_absent(field, hw))
      out.machine.emplace_back(field.path, print_value(field, hw));
  for (const LayerReport& l : report.layers)
    out.layers.push_back({l.name, l.op_type, l.costs.cycles, causes_of(l.costs)});
  return out;
}

CauseCycles run_causes(const RunSide& side) {
  CauseCycles out{};
  for (const SideLayer& l : side.layers)
    for (size_t c = 0; c < kLayerCauses; ++c) out[c] += l.causes[c];
  cycles_by(out, Cause::overlap) = side.cycles - sum_causes(out);
  return out;
}

}  // namespace accsim::sim
