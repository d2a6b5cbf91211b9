#include "sim/flow/workload.h"

#include "hw/config/config_key.h"
#include "hw/energy/energy.h"
#include "hw/timing/chain.h"
#include "sim/base/key_bytes.h"
#include "sim/base/sums.h"
#include "sim/flow/requests.h"
#include "sim/report/report.h"

namespace accsim::sim {

namespace {

constexpr size_t kMostTotals = 4096;  // machines whose cycles are remembered

}  // namespace

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
  std::unordered_map<std::string, size_t> seen;  // a key is of one kind
  for (const Layer& layer : lowered_.layers) {
    for (OpRequest& request : requests(graph_, layer, residency, hw)) {
      const bool is_gemm = std::holds_alternative<GemmOp>(request.item);
      auto& ops = out.kinds[is_gemm].ops;
      const auto [at, fresh] = seen.emplace(key_of(request), ops.size());
      if (fresh) ops.push_back({.request = std::move(request), .layer = &layer.name});
      ++ops[at->second].times;
      out.order.push_back({is_gemm, at->second, out.tensors.size()});
    }
    out.tensors.push_back(layer_tensors(layer, residency));
  }
  return plans_.emplace(key, std::move(out)).first->second;
}

/// Every op of a kind on a machine, remembered or mapped; "" is a key that isn't remembered.
Result<Workload::MappedOps> Workload::mapped(Kind& kind, const std::string& key,
                                             const hw::HwConfig& hw, const MapOptions& options) {
  constexpr size_t kMostKnown = 16;  // machines remembered: about a megabyte
  if (const auto known = kind.known.find(key); known != kind.known.end()) {
    remembered_ += std::ssize(kind.ops);
    return known->second;
  }
  MapOptions only_costs = options;
  only_costs.programs = false;
  Mapper mapper(hw, std::move(only_costs));
  std::vector<MappedOp> out;
  out.reserve(kind.ops.size());
  Errors errors;
  for (const DistinctOp& op : kind.ops) {
    Result<Mapping> m = mapper.choose(op.request, *op.layer);
    if (m)
      out.push_back({m->counts, std::move(m->link)});
    else
      errors.insert(errors.end(), m.errors().begin(), m.errors().end());
  }
  mapped_ += std::ssize(kind.ops);
  if (!errors.empty()) return errors;
  if (kind.known.size() >= kMostKnown) kind.known.clear();
  auto ops = std::make_shared<const std::vector<MappedOp>>(std::move(out));
  if (!key.empty()) kind.known.insert_or_assign(key, ops);
  return ops;
}

/// Of the network as one chain.
int64_t Workload::chain_cycles(const Plan& plan, const std::array<MappedOps, 2>& ops,
                               const hw::HwConfig& hw) {
  bool loads = true;
  for (const MappedOps& kind : ops)
    for (const MappedOp& op : *kind) loads = loads && loads_first(op.link);
  hw::Chain chain(hw, loads);
  for (const PlacedOp& placed : plan.order) {
    const ChainLink& link = (*ops[placed.is_gemm])[placed.op].link;
    chain.add(link.steps, numbers(link, plan.tensors[placed.layer]));
  }
  return chain.total();
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
  std::array<MappedOps, 2> ops;
  std::string both;
  for (const bool is_gemm : {false, true}) {
    Kind& kind = now.kinds[is_gemm];
    const std::string key =
        options.pins.empty() ? mapping_key(hw, options, is_gemm) : std::string();
    both += key;
    Result<MappedOps> found = mapped(kind, key, hw, options);
    if (!found) {
      errors.insert(errors.end(), found.errors().begin(), found.errors().end());
      continue;
    }
    ops[is_gemm] = std::move(*found);
    for (size_t i = 0; i < kind.ops.size(); ++i) {
      const int64_t times = kind.ops[i].times;
      const hw::Counts& c = (*ops[is_gemm])[i].counts;
      out.energy_pj += static_cast<double>(times) * total(energy(c, Cycles(0), hw)).value();
      add(out.macs, times, c.macs.count());
      add(out.dram_read_bytes, times, c.read[dram].count());
      add(out.dram_write_bytes, times, c.written[dram].count());
      add(out.shared_bytes, times, (c.read[shared] + c.written[shared]).count());
    }
  }
  if (!errors.empty()) return errors;
  if (now.cycles.size() >= kMostTotals) now.cycles.clear();
  auto cycles = now.cycles.find(both);
  if (cycles == now.cycles.end() || both.empty())
    cycles = now.cycles.insert_or_assign(both, chain_cycles(now, ops, hw)).first;
  out.cycles = cycles->second;
  out.energy_pj += total(energy({}, Cycles(out.cycles), hw)).value();
  for (const auto& [what, sum] : {std::pair("cycles", out.cycles),
                                  {"MACs", out.macs},
                                  {"bytes read from DRAM", out.dram_read_bytes},
                                  {"bytes written to DRAM", out.dram_write_bytes},
                                  {"bytes of shared memory", out.shared_bytes}})
    if (sum == kBeyond) return beyond_64_bits(what, graph_.file);
  return out;
}

}  // namespace accsim::sim
