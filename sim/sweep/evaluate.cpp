#include "sim/sweep/evaluate.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/area/area.h"
#include "sim/base/hash.h"
#include "sim/base/sums.h"
#include "sim/cost/cost.h"

namespace accsim::sim {

std::string config_hash(const hw::HwConfig& hw, const std::vector<double>& sizes) {
  std::string text = machine_text(hw);
  for (const double size : sizes) text += fmt::format(" {:.0f}", size);
  return hash_text(text);
}

Result<Evaluator> Evaluator::create(const SweepSpec& spec,
                                    std::shared_ptr<MappingMemory> mappings) {
  Evaluator out(spec);
  if (mappings) out.memory_->mappings = std::move(mappings);
  for (const SweepModel& model : spec.models) {
    auto workload = Workload::prepare(model.graph, out.memory_);
    if (!workload) return workload.errors();
    out.workloads_.push_back(std::move(*workload));
  }
  for (size_t a = 0; a < bind_axes(spec); ++a)
    out.sizes_.push_back(spec.axes[a].steps.front().value);
  return out;
}

const std::string& Evaluator::bind_sizes(std::vector<double> sizes) {
  if (sizes == sizes_) return unbound_;
  sizes_ = std::move(sizes);
  unbound_.clear();
  for (size_t i = 0; i < workloads_.size(); ++i) {
    if (spec_->models[i].bound.empty()) continue;
    Result<Graph> graph = spec_->models[i].graph_of(sizes_);
    Result<Workload> workload =
        graph ? Workload::prepare(std::move(*graph), memory_) : Result<Workload>(graph.errors());
    if (workload)
      workloads_[i] = std::move(*workload);
    else if (unbound_.empty())
      unbound_ = workload.errors().front().text();
  }
  return unbound_;
}

PointTotals Evaluator::cost_machine(const hw::HwConfig& hw, const MapOptions& options,
                                    std::string& reason) {
  PointTotals out;
  out.clock_mhz = hw.clock_mhz;
  out.area_mm2 = area_mm2(hw);
  out.sram_bytes = sram_bytes(hw);
  if (reason.empty()) reason = broken_rule(hw);
  last_.clear();
  for (size_t i = 0; i < workloads_.size() && reason.empty(); ++i) {
    const auto totals = workloads_[i].cost(hw, options);
    if (!totals) {
      reason = totals.errors().front().text();
      break;
    }
    last_.push_back(*totals);
    const int64_t weight = spec_->models[i].weight;
    const struct {
      const char* what;
      int64_t& sum;
      int64_t count;
    } kSums[] = {{"cycles", out.cycles, totals->cycles},
                 {"MACs", out.macs, totals->macs},
                 {"bytes read from DRAM", out.dram_read_bytes, totals->dram_read_bytes},
                 {"bytes written to DRAM", out.dram_write_bytes, totals->dram_write_bytes},
                 {"bytes of shared memory", out.shared_bytes, totals->shared_bytes}};
    for (const auto& [what, sum, count] : kSums) {
      sum = add_counts(sum, multiply_counts(weight, count));
      if (sum == kBeyond && reason.empty())
        reason = fmt::format("the totals leave 64 bits ({}); use smaller weights", what);
    }
    out.energy_pj += static_cast<double>(weight) * totals->energy_pj;
    out.shared_peak_bytes = std::max(out.shared_peak_bytes, totals->shared_peak_bytes);
  }
  if (reason.empty()) return out;
  PointTotals none;
  none.clock_mhz = out.clock_mhz;
  none.area_mm2 = out.area_mm2;
  none.sram_bytes = out.sram_bytes;
  return none;
}

PointTotals Evaluator::bound_totals(const hw::HwConfig& hw, Objective objective, MapEffort effort,
                                    std::string& reason) {
  MapOptions options;
  options.objective = objective;
  options.slack = 0;
  options.effort = effort;
  options.all_room = true;
  reason.clear();
  return cost_machine(hw, options, reason);
}

PointRow Evaluator::evaluate_point(int64_t point) {
  const AxisSteps steps = space_.steps_of_point(point);
  const hw::HwConfig hw = space_.machine_at(steps);
  PointRow row;
  row.point = point;
  row.config = config_hash(hw, space_.sizes_at(steps));
  row.labels = space_.labels_at(steps);
  row.reason = bind_sizes(space_.sizes_at(steps));
  row.totals = cost_machine(hw, spec_->mapping, row.reason);
  if (row.is_feasible()) add_phases(hw, row);
  if (spec_->layers && row.is_feasible()) add_layers(hw, spec_->mapping, row);
  return row;
}

void Evaluator::add_phases(const hw::HwConfig& hw, PointRow& row) {
  std::vector<PhaseShare> networks;
  for (size_t i = 0; i < workloads_.size(); ++i) {
    const SweepModel& model = spec_->models[i];
    if (model.phase == Phase::none) continue;
    const Workload& work = workloads_[i];
    const Result<int64_t> tokens = model.tokens_of(work.graph(), sizes_);
    if (!tokens) {
      row.reason = tokens.errors().front().text();
      return;
    }
    const WorkloadTotals& t = last_[i];
    networks.push_back(
        {{model.phase, 1, *tokens, t.cycles, t.energy_pj, t.dram_read_bytes, t.dram_write_bytes,
          weight_memory(work.lowered(), hw), cache_memory(work.graph(), hw)},
         model.weight});
  }
  row.phases = sum_phases(networks);
  const auto without = std::ranges::find(row.phases, 0, &PhaseTotals::tokens);
  if (without == row.phases.end()) return;
  row.reason = fmt::format("no network of phase {} gives tokens",
                           kPhases[static_cast<size_t>(without->phase)]);
  row.phases.clear();
}

void Evaluator::add_layers(const hw::HwConfig& hw, const MapOptions& options, PointRow& row) {
  MapOptions only_costs = options;
  only_costs.programs = true;  // mappings' descriptions come with them
  for (size_t i = 0; i < workloads_.size(); ++i) {
    const auto network = cost_network(workloads_[i].graph(), hw, only_costs);
    if (!network) continue;  // cost_machine() has said why
    for (const LayerReport& l : network->report.layers) {
      if (l.costs.alone_cycles == 0) continue;
      row.layers.push_back({spec_->models[i].name, l.name, l.op_type, l.mapping, l.costs.cycles,
                            l.costs.energy.total_pj(), l.costs.macs, l.costs.dram_read,
                            l.costs.dram_write});
    }
  }
}

}  // namespace accsim::sim
