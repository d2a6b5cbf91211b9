#include "sim/report/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/sums.h"

namespace accsim::sim {
namespace {

/// Calls f(name, count, count) with every count of both.
template <class A, class B, class F>
void for_counts(A& a, B& b, F f) {
  f("cycles", a.cycles, b.cycles);
  f("cycles of layers alone", a.alone_cycles, b.alone_cycles);
  f("verifiable cycles", a.verifiable_cycles, b.verifiable_cycles);
  f("busy cycles", a.compute_cycles, b.compute_cycles);
  f("busy cycles of the vector unit", a.vector_cycles, b.vector_cycles);
  f("cycles of moving", a.move_cycles, b.move_cycles);
  for (size_t w = 0; w < a.stalls.size(); ++w) f("stall cycles", a.stalls[w], b.stalls[w]);
  f("tail cycles", a.tail_cycles, b.tail_cycles);
  f("MACs", a.macs, b.macs);
  f("MACs of lanes", a.lane_macs, b.lane_macs);
  f("MACs on the array", a.array_macs, b.array_macs);
  f("parameters", a.params, b.params);
  f("bytes read from DRAM", a.dram_read, b.dram_read);
  f("bytes written to DRAM", a.dram_write, b.dram_write);
  f("bytes read from shared memory", a.shared_read, b.shared_read);
  f("bytes written to shared memory", a.shared_write, b.shared_write);
  f("bytes staged in shared memory", a.staged, b.staged);
  for (size_t i = 0; i < a.buffer_read.size(); ++i)
    f("bytes read from buffers", a.buffer_read[i], b.buffer_read[i]);
  for (size_t i = 0; i < a.buffer_write.size(); ++i)
    f("bytes written to buffers", a.buffer_write[i], b.buffer_write[i]);
  f("cycles of the MACs at full rate", a.compute_bound, b.compute_bound);
  f("cycles of the vector operations at full rate", a.vector_bound, b.vector_bound);
  f("cycles of DRAM at full rate", a.dram_bound, b.dram_bound);
  f("lower bound of cycles", a.lower_bound, b.lower_bound);
  f("cycles of idle lanes", a.idle_lanes, b.idle_lanes);
  f("cycles of busy DRAM", a.dram_busy, b.dram_busy);
  f("cycles of busy SRAM", a.sram_busy, b.sram_busy);
  f("cycles of stationary operands going in", a.preload_busy, b.preload_busy);
  f("least bytes of DRAM", a.traffic_bound, b.traffic_bound);
}

}  // namespace

std::string_view name(Bound b) {
  constexpr std::array<std::string_view, kBounds> kNames = {"none", "compute", "weight load",
                                                            "dram", "sram",    "latency"};
  return kNames[static_cast<size_t>(b)];
}

EnergyReport& EnergyReport::operator+=(const EnergyReport& o) {
  mac += o.mac;
  vector += o.vector;
  sram += o.sram;
  shared += o.shared;
  dram += o.dram;
  leakage += o.leakage;
  return *this;
}

Costs& Costs::operator+=(const Costs& o) {
  for_counts(*this, o, [](const char*, int64_t& to, int64_t from) { to = add_counts(to, from); });
  energy += o.energy;
  return *this;
}

Status check_sums(const Costs& c, const std::string& where) {
  const char* beyond = nullptr;
  for_counts(c, c, [&](const char* name, int64_t count, int64_t) {
    if (count == kBeyond && beyond == nullptr) beyond = name;
  });
  return beyond == nullptr ? ok() : beyond_64_bits(beyond, where);
}

Error beyond_64_bits(std::string_view what, const std::string& where) {
  return {Errc::overflow,
          fmt::format("the sum of its layers' {} leaves 64 bits; give smaller sizes with --bind or "
                      "--input-shape",
                      what),
          where};
}

std::vector<Loss> cycle_losses(const Costs& c) {
  constexpr std::array<std::string_view, hw::kWaits> kWaiting = {
      "DRAM read",  "DRAM write", "shared buffer", "weight load",
      "array fill", "post unit",  "slots"};
  std::vector<Loss> out = {
      {"idle lanes", c.idle_lanes}, {"moves", c.move_cycles}, {"tail", c.tail_cycles}};
  for (size_t w = 0; w < hw::kWaits; ++w) out.push_back({kWaiting[w], c.stalls[w]});
  std::erase_if(out, [](const Loss& l) { return l.cycles <= 0; });
  std::stable_sort(out.begin(), out.end(),
                   [](const Loss& a, const Loss& b) { return a.cycles > b.cycles; });
  return out;
}

double Report::peak_macs_per_cycle(const Costs& c) const {
  // Cycles of the array's MACs alone at full rate: they know their modes.
  const int64_t cycles = c.compute_bound - c.vector_bound;
  if (hw.types.modes.empty() || cycles <= 0) return static_cast<double>(peak_macs_per_cycle());
  return static_cast<double>(c.macs - c.lane_macs) / static_cast<double>(cycles);
}

double Report::utilization(const Costs& c) const {
  const double possible = static_cast<double>(c.cycles) * peak_macs_per_cycle(c);
  return possible > 0 ? static_cast<double>(c.macs - c.lane_macs) / possible : 0;
}

}  // namespace accsim::sim
