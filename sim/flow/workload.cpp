#include "sim/flow/workload.h"

#include <fmt/format.h>

#include "hw/energy/energy.h"
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

namespace {

/// Numbers as bytes, one behind the other.
class KeyWriter {
 public:
  template <class... T>
  KeyWriter& operator()(const T&... values) {
    static_assert((std::is_arithmetic_v<T> && ...) || (std::is_enum_v<T> || ...));
    (key_.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
    return *this;
  }
  KeyWriter& operator()(const hw::ChannelConfig& c) {
    return (*this)(c.read.milli, c.write.milli, c.latency);
  }
  KeyWriter& operator()(const hw::BufferConfig& b) { return (*this)(b.kib, b.slots, b.width); }
  std::string take() { return std::move(key_); }

 private:
  std::string key_;
};

}  // namespace

std::string mapping_key(const hw::HwConfig& hw, const MapOptions& options, bool is_gemm) {
  KeyWriter key;
  key(hw.activation_bytes(), hw.weight_bytes(), hw.parameter_bytes(), hw.accumulator_bytes());
  key(static_cast<int>(hw.types.accumulator), static_cast<int>(options.objective),
      static_cast<int>(options.effort), static_cast<int>(hw.dram_model));
  key(hw.dram)(hw.shared.channel);
  if (hw.dram_model == hw::DramModel::banked)
    key(static_cast<int>(hw.banked.preset), hw.banked.channels, static_cast<int>(hw.banked.map),
        hw.banked.read_share, hw.clock_mhz);
  key(hw.buffer(hw::Buffer::activation))(hw.buffer(hw::Buffer::output));
  if (is_gemm) {
    key(hw.array.rows, hw.array.cols);
    for (const hw::Buffer b : {hw::Buffer::weight, hw::Buffer::parameter, hw::Buffer::accumulator})
      key(hw.buffer(b));
    for (const hw::Dataflow d : options.dataflows.empty() ? hw.array.dataflows : options.dataflows)
      key(static_cast<int>(d));
  } else {
    for (const int64_t lanes : hw.vector.lanes) key(lanes);
  }
  if (options.objective == Objective::energy || options.objective == Objective::edp) {
    const hw::EnergyConfig& e = hw.energy;
    key(e.mac, e.vector_op, e.shared_byte, e.dram_read_byte, e.dram_write_byte, e.static_per_cycle);
    for (const double byte : e.buffer_byte) key(byte);
  }
  return key.take();
}

Workload::Plan& Workload::plan(const hw::HwConfig& hw) {
  const std::string key = fmt::format("{} {} {} {}", hw.shared.kib, hw.activation_bytes(),
                                      hw.weight_bytes(), static_cast<int>(hw.types.accumulator));
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
  const std::string key = mapping_key(hw, options, is_gemm);
  if (options.pins.empty())
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
