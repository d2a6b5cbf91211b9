#include "sim/flow/workload.h"

#include "hw/config/config_key.h"
#include "hw/energy/energy.h"
#include "sim/base/key_bytes.h"
#include "sim/base/sums.h"
#include "sim/flow/requests.h"
#include "sim/report/report.h"

namespace accsim::sim {

Result<Workload> Workload::prepare(Graph graph) {
  Workload w;
  w.graph_ = std::move(graph);
  Result<Lowered> lowered = lower(w.graph_);
  if (!lowered) return lowered.errors();
  w.lowered_ = std::move(*lowered);
  return w;
}

std::string mapping_key(const hw::HwConfig& hw, const MapOptions& options, bool is_gemm) {
  // All of the options, so that a new one can't be left out.
  const auto& [dataflows, objective, effort, pins, programs] = options;
  check(pins.empty(), "pinned mappings are of single layers: no key for them");
  static_cast<void>(programs);  // the same costs with them and without
  hw::Decides what = is_gemm ? hw::kDecidesProducts : hw::kDecidesVectors;
  if (objective == Objective::energy || objective == Objective::edp) what |= hw::kDecidesEnergy;
  KeyBytes key;
  key.add(hw::config_key(hw, what)).add(objective, effort).add(dataflows);
  return key.take();
}

Workload::Plan& Workload::plan(const hw::HwConfig& hw) {
  const std::string key = hw::config_key(hw, hw::kDecidesPlaces);
  if (const auto known = plans_.find(key); known != plans_.end()) return known->second;
  const Residency residency = plan_residency(graph_, lowered_, hw);
  Plan out;
  out.shared_peak_bytes = residency.peak_bytes;
  std::unordered_map<std::string, std::pair<size_t, size_t>> seen;  // kind and place
  for (const Layer& layer : lowered_.layers)
    for (OpRequest& request : requests(graph_, layer, residency, hw)) {
      const size_t kind = std::holds_alternative<GemmOp>(request.item);
      auto& ops = out.kinds[kind].ops;
      const auto [at, fresh] = seen.emplace(key_of(request), std::pair(kind, ops.size()));
      if (fresh) ops.push_back({.request = std::move(request), .layer = &layer.name});
      ++ops[at->second.second].times;
    }
  return plans_.emplace(key, std::move(out)).first->second;
}

/// Every op of a kind on a machine, remembered or mapped. The pointer holds until the next call.
Result<const std::vector<Cost>*> Workload::costs(Kind& kind, bool is_gemm, const hw::HwConfig& hw,
                                                 const MapOptions& options) {
  constexpr size_t kMostKnown = 64;  // machines remembered: about a megabyte
  const bool pinned = !options.pins.empty();
  const std::string key = pinned ? std::string() : mapping_key(hw, options, is_gemm);
  if (!pinned)
    if (const auto known = kind.known.find(key); known != kind.known.end()) {
      remembered_ += std::ssize(kind.ops);
      return &known->second;
    }
  MapOptions only_costs = options;
  only_costs.programs = false;
  Mapper mapper(hw, std::move(only_costs));
  std::vector<Cost> out;
  out.reserve(kind.ops.size());
  Errors errors;
  for (const DistinctOp& op : kind.ops) {
    const Result<Mapping> m = mapper.choose(op.request, *op.layer);
    if (m)
      out.push_back({m->timing, m->counts});
    else
      errors.insert(errors.end(), m.errors().begin(), m.errors().end());
  }
  mapped_ += std::ssize(kind.ops);
  if (!errors.empty()) return errors;
  if (kind.known.size() >= kMostKnown) kind.known.clear();
  return &kind.known.insert_or_assign(key, std::move(out)).first->second;
}

Result<WorkloadTotals> Workload::cost(const hw::HwConfig& hw, const MapOptions& options) {
  Plan& now = plan(hw);
  WorkloadTotals out;
  out.shared_peak_bytes = now.shared_peak_bytes;
  const auto add = [](int64_t& sum, int64_t times, int64_t count) {
    sum = add_counts(sum, multiply_counts(times, count));
  };
  const auto dram = static_cast<size_t>(hw::Memory::dram),
             shared = static_cast<size_t>(hw::Memory::shared);
  Errors errors;
  for (const bool is_gemm : {false, true}) {
    Kind& kind = now.kinds[is_gemm];
    const auto costed = costs(kind, is_gemm, hw, options);
    if (!costed) {
      errors.insert(errors.end(), costed.errors().begin(), costed.errors().end());
      continue;
    }
    for (size_t i = 0; i < kind.ops.size(); ++i) {
      const int64_t times = kind.ops[i].times;
      const auto& [timing, c] = (**costed)[i];
      add(out.cycles, times, timing.total.count());
      out.energy_pj += static_cast<double>(times) * total(energy(c, timing.total, hw)).value();
      add(out.macs, times, c.macs.count());
      add(out.dram_read_bytes, times, c.read[dram].count());
      add(out.dram_write_bytes, times, c.written[dram].count());
      add(out.shared_bytes, times, (c.read[shared] + c.written[shared]).count());
    }
  }
  if (!errors.empty()) return errors;
  for (const auto& [what, sum] : {std::pair("cycles", out.cycles),
                                  {"MACs", out.macs},
                                  {"bytes read from DRAM", out.dram_read_bytes},
                                  {"bytes written to DRAM", out.dram_write_bytes},
                                  {"bytes of shared memory", out.shared_bytes}})
    if (sum == kBeyond) return beyond_64_bits(what, graph_.file);
  return out;
}

}  // namespace accsim::sim
