#include "sim/flow/workload.h"

#include <unordered_map>

#include <fmt/format.h>

#include "hw/energy/energy.h"
#include "sim/flow/requests.h"

namespace accsim {

Result<Workload> Workload::prepare(Graph graph) {
  Workload w;
  w.graph_ = std::move(graph);
  Result<Lowered> lowered = lower(w.graph_);
  if (!lowered) return lowered.errors();
  w.lowered_ = std::move(*lowered);
  return w;
}

const Workload::Plan& Workload::plan(const HwConfig& hw) {
  const std::string key =
      fmt::format("{} {} {} {}", hw.shared.kib, hw.activation_bytes(), hw.weight_bytes(),
                  static_cast<int>(hw.types.accumulator));
  if (const auto known = plans_.find(key); known != plans_.end()) return known->second;
  const Residency residency = plan_residency(graph_, lowered_, hw);
  Plan out;
  out.shared_peak_bytes = residency.peak_bytes;
  std::unordered_map<std::string, size_t> seen;
  for (const Layer& layer : lowered_.layers)
    for (OpRequest& request : requests(graph_, layer, residency, hw)) {
      const auto [at, fresh] = seen.emplace(key_of(request), out.ops.size());
      if (fresh) out.ops.push_back({std::move(request), 0, &layer.name});
      ++out.ops[at->second].times;
    }
  return plans_.emplace(key, std::move(out)).first->second;
}

Result<WorkloadTotals> Workload::cost(const HwConfig& hw, const MapOptions& options) {
  const Plan& ops = plan(hw);
  MapOptions only_costs = options;
  only_costs.programs = false;
  Mapper mapper(hw, std::move(only_costs));
  WorkloadTotals out;
  out.shared_peak_bytes = ops.shared_peak_bytes;
  const auto dram = static_cast<size_t>(Memory::dram), shared = static_cast<size_t>(Memory::shared);
  Errors errors;
  for (const DistinctOp& op : ops.ops) {
    const Result<Mapping> m = mapper.choose(op.request, *op.layer);
    if (!m) {
      errors.insert(errors.end(), m.errors().begin(), m.errors().end());
      continue;
    }
    const Counts& c = m->counts;
    out.cycles += op.times * m->timing.total.count();
    out.energy_pj +=
        static_cast<double>(op.times) * total(energy(c, m->timing.total, hw)).value();
    out.macs += op.times * c.macs.count();
    out.dram_read_bytes += op.times * c.read[dram].count();
    out.dram_write_bytes += op.times * c.written[dram].count();
    out.shared_bytes += op.times * (c.read[shared] + c.written[shared]).count();
  }
  if (!errors.empty()) return errors;
  return out;
}

}  // namespace accsim
