#include "sim/cost/workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/config/config_key.h"
#include "hw/energy/energy.h"
#include "sim/base/key_bytes.h"
#include "sim/base/sums.h"
#include "sim/cost/array_kinds.h"
#include "sim/cost/cost.h"
#include "sim/cost/key_blocks.h"
#include "sim/cost/network_slack.h"
#include "sim/cost/requests.h"
#include "sim/lower/lay_out.h"
#include "sim/report/report.h"

namespace accsim::sim {

namespace {

/// Requests that are mapped alike are told apart by the layer's operands that are theirs.
std::string ports_text(const LayerPorts& ports) {
  std::string out;
  for (const auto* side : {&ports.inputs, &ports.outputs}) {
    for (const LayerPorts::Port& port : *side)
      out += fmt::format(" {}+{}", port.index, port.offset);
    out += ';';
  }
  return out;
}

constexpr size_t kMostTexts = 512;  // machines whose cycles are remembered: some 10 megabytes

}  // namespace

Result<Workload> Workload::prepare(Graph graph, std::shared_ptr<WorkloadMemory> memory) {
  Workload w;
  w.memory_ = memory ? std::move(memory) : std::make_shared<WorkloadMemory>();
  w.graph_ = std::move(graph);
  if (auto plain = without_casts(w.graph_)) w.graph_ = std::move(*plain);
  Result<Lowered> lowered = lower_in_memory(w.graph_);
  if (!lowered) return lowered.errors();
  w.lowered_ = std::move(*lowered);
  w.asked_ = OperandTypes(w.graph_, w.lowered_).of_layers();
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
  static_cast<void>(slack);  // as the aim has it
  const Aim aim = options.aim();
  hw::Decides what = is_gemm ? hw::kDecidesProducts : hw::kDecidesVectors;
  // Slack is of products.
  if (aim.weighs_energy() && (is_gemm || !aim.slackens())) what |= hw::kDecidesEnergy;
  KeyBytes key;
  key.add(hw::config_key(hw, what)).add(objective, aim.slack, cycle_price, effort).add(dataflows);
  key.add(all_room);
  if (is_gemm) key.add(sums_stay.has_value(), sums_stay.value_or(false));
  return key.take();
}

Workload::Plan& Workload::plan(const ModeChoice& modes, bool all_room,
                               std::span<const TensorId> in_dram, const KeptWeights& kept) {
  const hw::HwConfig& hw = modes.machine();
  const std::string key = hw::config_key(hw, hw::kDecidesPlaces) + (all_room ? "all room" : "") +
                          (in_dram.empty() ? "" : "out of the way") + std::to_string(kept.bytes);
  if (const auto known = plans_.find(key); known != plans_.end()) return known->second;
  const Residency residency = plan_residency(graph_, lowered_, hw, in_dram, kept.tensors);
  Plan out;
  out.shared_peak_bytes = residency.peak_bytes + kept.bytes;
  out.tensors = network_tensors(lowered_, residency);
  std::unordered_map<std::string, size_t> seen;  // a key is of one kind
  for (size_t i = 0; i < lowered_.layers.size(); ++i) {
    const Layer& layer = lowered_.layers[i];
    std::vector<OpRequest> work = requests(graph_, layer, residency, hw, all_room);
    modes.set(asked_[i], work);
    for (OpRequest& request : work) {
      const bool is_gemm = std::holds_alternative<GemmOp>(request.item);
      auto& ops = out.kinds[is_gemm].ops;
      std::string key = key_of(request);
      const auto [at, fresh] = seen.emplace(key + ports_text(request.ports), ops.size());
      if (fresh)
        ops.push_back({.request = std::move(request), .key = std::move(key), .layer = &layer.name});
      ++ops[at->second].times;
      out.order.push_back({is_gemm, at->second, i});
    }
  }
  for (const PlacedOp& op : out.order)
    out.ops.push_back({op.layer, &out.kinds[op.is_gemm].ops[op.op].request});
  const OpReaders readers(graph_, lowered_, residency, hw, out.ops);
  out.runs = row_runs(readers, hw, out.ops);
  out.line_runs = line_runs(readers, hw, out.ops);
  if (in_dram.empty()) out.in_the_way = in_the_way(out.line_runs, out.ops, out.tensors, hw);
  return plans_.emplace(key, std::move(out)).first->second;
}

/// An op on a machine, remembered or mapped.
Result<Workload::FoundMapping> Workload::mapped(const DistinctOp& op, MappingMemory::Alike* known,
                                                Mapper& mapper) {
  if (known != nullptr)
    if (FoundMapping found = known->find(op.key)) {
      ++remembered_;
      return found;
    }
  ++mapped_;
  Result<Mapping> m = mapper.choose(op.request, *op.layer);
  if (!m) return m.errors();
  FoundMapping found = std::make_shared<const Mapping>(std::move(*m));
  return known != nullptr ? known->add(op.key, std::move(found)) : found;
}

/// Every op of a kind on a machine; "" is a key that isn't remembered.
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
  const auto known = key.empty() ? nullptr : memory_->mappings->of(key);
  std::vector<FoundMapping> out;
  out.reserve(kind.ops.size());
  Errors errors;
  for (const DistinctOp& op : kind.ops) {
    Result<FoundMapping> m = mapped(op, known.get(), mapper);
    if (m)
      out.push_back(std::move(*m));
    else
      errors.insert(errors.end(), m.errors().begin(), m.errors().end());
  }
  if (!errors.empty()) return errors;
  if (kind.known.size() >= kMostKnown) kind.known.clear();
  auto ops = std::make_shared<const std::vector<FoundMapping>>(std::move(out));
  if (!key.empty()) kind.known.insert_or_assign(key, ops);
  return ops;
}

std::vector<NetworkOp> Workload::ops_of(const Plan& plan) {
  std::vector<NetworkOp> out;
  for (const PlacedOp& placed : plan.order) {
    const DistinctOp& op = plan.kinds[placed.is_gemm].ops[placed.op];
    out.push_back({&op.request, op.layer});
  }
  return out;
}

/// Of the network as one chain.
Workload::Text Workload::text_of(const Plan& plan, const std::array<MappedOps, 2>& ops,
                                 const hw::HwConfig& hw, const MapOptions& options,
                                 const std::array<std::string, 2>& keys) {
  std::vector<std::shared_ptr<const Mapping>> mappings;
  mappings.reserve(plan.order.size());
  for (const PlacedOp& placed : plan.order) mappings.push_back((*ops[placed.is_gemm])[placed.op]);
  MapOptions only_costs = options;
  only_costs.programs = false;
  Mapper mapper(hw, std::move(only_costs));
  if (!keys[0].empty())
    mapper.remember_pieces(memory_->mappings->of(keys[0]), memory_->mappings->of(keys[1]));
  std::span<const RowRun> rows;
  std::span<const LineRun> lines;
  if (mapper.minimises_cycles()) {
    rows = plan.runs;
    if (mapper.searches()) lines = plan.line_runs;
  }
  const auto [found, chosen, fewest] = schedule_within_slack(
      {hw, plan.ops, mappings, plan.tensors, rows, lines, lowered_, mapper, &memory_->chains});
  Text out{found.total, fewest, plan.shared_peak_bytes, {}};
  for (const Schedule::SharedUse& use : found.shared)
    out.shared_peak_bytes = std::max(out.shared_peak_bytes, use.bytes + hw.shared.kept_bytes);
  if (rows.empty() && lines.empty() && chosen == mappings) return out;
  std::unordered_map<const Mapping*, size_t> known;
  for (const Stretch& s : found.stretches) {
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
    for (Graph& blocks : in_key_blocks_to_try(graph_, hw)) {
      Result<Workload> prepared = prepare(std::move(blocks), memory_);
      if (!prepared) return prepared.errors();
      in_blocks_->push_back(std::move(*prepared));
    }
  }
  std::optional<WorkloadTotals> out;
  Errors errors;
  BestWay best(options.aim());
  for (const MapOptions& kind : one_array_each(hw, options)) {
    const Result<WorkloadTotals> whole = cost_as_it_is(hw, kind);
    if (!whole) {
      if (errors.empty()) errors = whole.errors();
      continue;
    }
    if (best.takes(network_cost(*whole))) out = *whole;
    if (hw.shared.kib == 0) continue;
    for (Workload& blocks : *in_blocks_) {
      const Result<WorkloadTotals> other = blocks.cost_as_it_is(hw, kind);
      if (other && best.takes(network_cost(*other))) out = *other;
    }
  }
  if (!out) return errors;
  out->fewest_cycles = best.fewest();
  return *out;
}

Result<WorkloadTotals> Workload::cost_as_it_is(const hw::HwConfig& hw, const MapOptions& options) {
  const ModeChoice modes(asked_, hw);
  const KeptWeights kept = kept_weights(graph_, lowered_, modes.machine());
  if (kept.tensors.empty()) return cost_on(modes, options, kept);
  return cost_on(ModeChoice(asked_, beside(kept, hw)), options, kept);
}

Result<WorkloadTotals> Workload::cost_on(const ModeChoice& modes, const MapOptions& options,
                                         const KeptWeights& kept) {
  Plan& first = plan(modes, options.all_room, {}, kept);
  Result<WorkloadTotals> out = cost_as(first, modes.machine(), options);
  const bool cut = options.objective == Objective::cycles && options.effort == MapEffort::search;
  if (!out || !cut || first.in_the_way.empty()) return out;
  Plan& second = plan(modes, options.all_room, first.in_the_way, kept);
  Result<WorkloadTotals> other = cost_as(second, modes.machine(), options);
  return other && other->cycles < out->cycles ? other : out;
}

Result<WorkloadTotals> Workload::cost_as(Plan& now, const hw::HwConfig& hw,
                                         const MapOptions& asked) {
  WorkloadTotals out;
  const auto add = [](int64_t& sum, int64_t times, int64_t count) {
    sum = add_counts(sum, multiply_counts(times, count));
  };
  const auto dram = static_cast<size_t>(hw::Memory::dram),
             shared = static_cast<size_t>(hw::Memory::shared);
  Errors errors;
  std::array<MappedOps, 2> ops;
  std::array<std::string, 2> keys;
  memory_->mappings->make_room();
  const MapOptions options =
      asked.objective == Objective::edp ? network_mapper(ops_of(now), hw, asked)->options() : asked;
  for (const bool is_gemm : {false, true}) {
    Kind& kind = now.kinds[is_gemm];
    if (options.pins.empty()) keys[is_gemm] = mapping_key(hw, options, is_gemm);
    Result<MappedOps> found = mapped(kind, keys[is_gemm], hw, options);
    if (!found) {
      errors.insert(errors.end(), found.errors().begin(), found.errors().end());
      continue;
    }
    ops[is_gemm] = std::move(*found);
  }
  if (!errors.empty()) return errors;
  if (now.texts.size() >= kMostTexts) now.texts.clear();
  const std::string both = keys[0] + keys[1];
  auto known = now.texts.find(both);
  if (known == now.texts.end() || both.empty())
    known = now.texts.insert_or_assign(both, text_of(now, ops, hw, options, keys)).first;
  const Text& text = known->second;
  std::map<int, hw::HwConfig> views;
  const auto machine_of = [&](int mode) -> const hw::HwConfig& {
    if (mode == hw::kOwnTypes) return hw;
    const auto view = views.find(mode);
    return view != views.end() ? view->second
                               : views.emplace(mode, machine_of_mode(hw, mode)).first->second;
  };
  const auto add_counts_of = [&](const hw::Counts& c, int mode, int64_t times) {
    out.energy_pj +=
        static_cast<double>(times) * total(energy(c, Cycles(0), machine_of(mode))).value();
    add(out.dram_read_bytes, times, c.read[dram].count());
    add(out.dram_write_bytes, times, c.written[dram].count());
    add(out.shared_bytes, times, (c.read[shared] + c.written[shared]).count());
  };
  for (const auto& [counts, mode, times] : text.counts) add_counts_of(counts, mode, times);
  if (text.counts.empty())
    for (const bool is_gemm : {false, true})
      for (size_t i = 0; i < now.kinds[is_gemm].ops.size(); ++i)
        add_counts_of((*ops[is_gemm])[i]->counts, now.kinds[is_gemm].ops[i].request.mode,
                      now.kinds[is_gemm].ops[i].times);
  for (const Layer& layer : lowered_.layers) add(out.macs, 1, layer.macs);
  out.cycles = text.cycles;
  out.fewest_cycles = text.fewest;
  out.shared_peak_bytes = text.shared_peak_bytes;
  out.energy_pj += total(energy({}, Cycles(out.cycles), hw)).value();
  if (const Status sums = check_totals(out, graph_.file); !sums) return sums.errors();
  return out;
}

}  // namespace accsim::sim
