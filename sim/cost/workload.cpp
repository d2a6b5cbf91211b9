#include "sim/cost/workload.h"

#include <algorithm>

#include "hw/config/config_key.h"
#include "hw/energy/energy.h"
#include "sim/base/key_bytes.h"
#include "sim/base/sums.h"
#include "sim/report/report.h"

namespace accsim::sim {

namespace {

constexpr size_t kMostTexts = 512;  // machines whose cycles are remembered: some 10 megabytes

}  // namespace

Result<Workload> Workload::prepare(Graph graph, std::shared_ptr<WorkloadMemory> memory) {
  Workload w;
  w.memory_ = memory ? std::move(memory) : std::make_shared<WorkloadMemory>();
  auto network = prepare_network(std::make_shared<const Graph>(std::move(graph)));
  if (!network) return network.errors();
  w.network_ = std::move(*network);
  return w;
}

std::string mapping_key(const hw::HwConfig& hw, const MapOptions& options, bool is_gemm) {
  // All of the options, so that a new one can't be left out.
  const auto& [dataflows, objective, slack, cycle_price, effort, pins, programs, threads, limit,
               all_room, sums_stay] = options;
  check(pins.empty(), "pinned mappings are of single layers: no key for them");
  static_cast<void>(programs);  // the same costs with them and without
  static_cast<void>(threads);
  static_cast<void>(limit);  // what is refused isn't kept
  static_cast<void>(slack);  // as the objective has it
  const ObjectiveFunction function = options.objective_function();
  hw::Decides what = is_gemm ? hw::kDecidesProducts : hw::kDecidesVectors;
  if (!is_gemm && hw.has_side_units()) what |= hw::kDecidesProducts;  // atoms are the array's
  // Slack is of products.
  if (function.weighs_energy() && (is_gemm || !function.has_slack())) what |= hw::kDecidesEnergy;
  KeyBytes key;
  key.add(hw::config_key(hw, what))
      .add(objective, function.slack, cycle_price, effort)
      .add(dataflows);
  key.add(all_room);
  if (is_gemm) key.add(sums_stay.has_value(), sums_stay.value_or(false));
  return key.take_bytes();
}

Workload::Plan& Workload::plan_on(const ModeChoice& modes, bool all_room,
                                  std::span<const TensorId> in_dram, const KeptWeights& kept) {
  const hw::HwConfig& hw = modes.machine();
  const std::string key = hw::config_key(hw, hw::kDecidesPlaces) + (all_room ? "all room" : "") +
                          (in_dram.empty() ? "" : "out of the way") + std::to_string(kept.bytes);
  Plan& known = plans_[key];
  if (!known.plan) known.plan = plan_network(network_, modes, kept, {all_room, {}, in_dram});
  return known;
}

/// A mapper of one machine, which knows what was found on machines that are alike to it.
std::unique_ptr<Mapper> Workload::make_mapper(const hw::HwConfig& hw, const MapOptions& options,
                                              const std::array<std::string, 2>& keys) {
  MapOptions only_costs = options;
  only_costs.programs = false;
  auto out = std::make_unique<Mapper>(hw, std::move(only_costs));
  if (!keys[0].empty())
    out->remember(
        {memory_->mappings->alike_of_key(keys[0]), memory_->mappings->alike_of_key(keys[1])});
  return out;
}

/// Every op of a kind on the mapper's machine.
Result<Workload::FoundMappings> Workload::mapped(std::span<const DistinctOp> ops, Mapper& mapper) {
  const int64_t before = mapper.remembered_count();
  MappedOps out;
  out.reserve(ops.size());
  Errors errors;
  for (const DistinctOp& op : ops) {
    auto m = mapper.map(op.request, *op.layer, op.key);
    if (m)
      out.push_back(std::move(*m));
    else
      errors.insert(errors.end(), m.errors().begin(), m.errors().end());
  }
  remembered_ += mapper.remembered_count() - before;
  mapped_ += std::ssize(ops) - (mapper.remembered_count() - before);
  if (!errors.empty()) return errors;
  return std::make_shared<const MappedOps>(std::move(out));
}

/// Of the network as one chain.
Workload::Text Workload::text_of(const NetworkPlan& plan, const GroupsToTry& groups,
                                 const std::array<FoundMappings, 2>& ops, Mapper& mapper) {
  const MappedOps mappings = in_order(plan, *ops[0], *ops[1]);
  const auto [found, chosen, fewest] =
      schedule_plan(network_, plan, groups, mappings, mapper, &memory_->chains);
  Text out{found.total, fewest, shared_peak_bytes(plan, found, mapper.machine()), {}};
  if (groups.has_none() && chosen == mappings) {
    for (const bool is_gemm : {false, true})
      for (size_t i = 0; i < ops[is_gemm]->size(); ++i) {
        const DistinctOp& op = plan.distinct[is_gemm][i];
        out.counts.push_back({(*ops[is_gemm])[i]->counts, op.request.mode, op.times});
      }
    return out;
  }
  std::unordered_map<const Mapping*, size_t> known;
  for (const ScheduledOp& s : found.order) {
    const auto [at, fresh] = known.emplace(s.mapping.get(), out.counts.size());
    if (fresh) out.counts.push_back({s.mapping->counts, plan.ops[s.op].request->mode});
    ++out.counts[at->second].times;
  }
  return out;
}

namespace {

NetworkCost network_cost(const WorkloadTotals& t) {
  return {t.cycles, t.fewest_cycles, t.energy_pj, t.dram_read_bytes + t.dram_write_bytes};
}

/// Do all sums lie within 64 bits?
Status check_totals(const WorkloadTotals& t, const std::string& file) {
  for (const auto& [what, sum] : {std::pair("cycles", t.cycles),
                                  {"MACs", t.macs},
                                  {"bytes read from DRAM", t.dram_read_bytes},
                                  {"bytes written to DRAM", t.dram_write_bytes},
                                  {"bytes of shared memory", t.shared_bytes}})
    if (sum == kBeyond) return beyond_64_bits(what, file);
  return ok();
}

}  // namespace

Result<WorkloadTotals> Workload::cost(const hw::HwConfig& hw, const MapOptions& options) {
  if (!in_blocks_ && hw.shared.kib > 0) {
    in_blocks_.emplace();
    for (Graph& blocks : in_key_blocks_to_try(graph(), hw)) {
      Result<Workload> prepared = prepare(std::move(blocks), memory_);
      if (!prepared) return prepared.errors();
      in_blocks_->push_back(std::move(*prepared));
    }
  }
  return best_way<WorkloadTotals>(
      hw, options, hw.shared.kib > 0 ? in_blocks_->size() : 0,
      [&](const MapOptions& kind, size_t block, std::span<const TensorId> in_dram) {
        return (block == 0 ? *this : (*in_blocks_)[block - 1]).cost_as_it_is(hw, kind, in_dram);
      });
}

Result<OneWay<WorkloadTotals>> Workload::cost_as_it_is(const hw::HwConfig& hw,
                                                       const MapOptions& options,
                                                       std::span<const TensorId> in_dram) {
  const ModeChoice modes(network_.asked, hw);
  if (const Status fits = check_on_chip(graph(), lowered(), hw); !fits) return fits.errors();
  const KeptWeights kept = kept_weights(graph(), lowered(), modes.machine());
  if (kept.tensors.empty()) return cost_on(modes, options, in_dram, kept);
  return cost_on(ModeChoice(network_.asked, machine_beside(kept, hw)), options, in_dram, kept);
}

Result<OneWay<WorkloadTotals>> Workload::cost_on(const ModeChoice& modes, const MapOptions& asked,
                                                 std::span<const TensorId> in_dram,
                                                 const KeptWeights& kept) {
  constexpr size_t kMostKnown = 16;  // machines remembered: about a megabyte
  const hw::HwConfig& hw = modes.machine();
  Plan& now = plan_on(modes, asked.all_room, in_dram, kept);
  memory_->mappings->make_room();
  const MapOptions options = asked.objective == Objective::edp
                                 ? network_mapper(now.plan->network_ops(), hw, asked)->options()
                                 : asked;
  std::array<std::string, 2> keys;
  if (options.pins.empty())
    keys = {mapping_key(hw, options, false), mapping_key(hw, options, true)};
  std::unique_ptr<Mapper> mapper;
  const auto its_mapper = [&]() -> Mapper& {
    if (!mapper) mapper = this->make_mapper(hw, options, keys);
    return *mapper;
  };
  Errors errors;
  std::array<FoundMappings, 2> ops;
  for (const bool is_gemm : {false, true}) {
    auto& known = now.mapped[is_gemm];
    const std::vector<DistinctOp>& distinct = now.plan->distinct[is_gemm];
    if (const auto at = known.find(keys[is_gemm]); at != known.end()) {
      remembered_ += std::ssize(distinct);
      ops[is_gemm] = at->second;
      continue;
    }
    Result<FoundMappings> found = mapped(distinct, its_mapper());
    if (!found) {
      errors.insert(errors.end(), found.errors().begin(), found.errors().end());
      continue;
    }
    ops[is_gemm] = std::move(*found);
    if (known.size() >= kMostKnown) known.clear();
    if (!keys[is_gemm].empty()) known.insert_or_assign(keys[is_gemm], ops[is_gemm]);
  }
  if (!errors.empty()) return errors;
  const GroupsToTry groups = groups_to_try(network_, *now.plan, hw, options);
  if (now.texts.size() >= kMostTexts) now.texts.clear();
  const std::string both = keys[0] + keys[1];
  auto known = now.texts.find(both);
  if (known == now.texts.end() || both.empty())
    known = now.texts.insert_or_assign(both, text_of(*now.plan, groups, ops, its_mapper())).first;
  Result<WorkloadTotals> out = totals_of(known->second, hw);
  if (!out) return out.errors();
  const NetworkCost cost = network_cost(*out);
  return OneWay<WorkloadTotals>{*out, cost, {groups.in_the_way.begin(), groups.in_the_way.end()}};
}

Result<WorkloadTotals> Workload::totals_of(const Text& text, const hw::HwConfig& hw) const {
  WorkloadTotals out;
  const auto add = [](int64_t& sum, int64_t times, int64_t count) {
    sum = add_counts(sum, multiply_counts(times, count));
  };
  std::map<int, hw::HwConfig> views;
  const auto machine_of = [&](int mode) -> const hw::HwConfig& {
    if (mode == hw::kOwnTypes) return hw;
    const auto view = views.find(mode);
    return view != views.end() ? view->second
                               : views.emplace(mode, machine_of_mode(hw, mode)).first->second;
  };
  for (const auto& [counts, mode, times] : text.counts) {
    out.energy_pj += static_cast<double>(times) *
                     total_energy(energy(counts, Cycles(0), machine_of(mode))).value();
    add(out.dram_read_bytes, times, counts.read[hw::MemoryId::dram].count());
    add(out.dram_write_bytes, times, counts.written[hw::MemoryId::dram].count());
    add(out.shared_bytes, times, counts.moved(hw::MemoryId::shared).count());
  }
  for (const Layer& layer : lowered().layers) add(out.macs, 1, layer.macs);
  out.cycles = text.cycles;
  out.fewest_cycles = text.fewest;
  out.shared_peak_bytes = text.shared_peak_bytes;
  out.energy_pj += total_energy(energy({}, Cycles(out.cycles), hw)).value();
  if (const Status sums = check_totals(out, graph().file); !sums) return sums.errors();
  return out;
}

}  // namespace accsim::sim
