#include "sim/report/report.h"

#include <algorithm>

#include "sim/base/check.h"

namespace accsim::sim {
namespace {

void add(int64_t& to, int64_t from) {
  check(!__builtin_add_overflow(to, from, &to), "sum of layer costs leaves 64 bits");
}

template <size_t n>
void add(std::array<int64_t, n>& to, const std::array<int64_t, n>& from) {
  for (size_t i = 0; i < n; ++i) add(to[i], from[i]);
}

}  // namespace

std::string_view name(Bound b) {
  constexpr std::array<std::string_view, 5> kNames = {"none", "compute", "dram", "sram", "latency"};
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
  constexpr int64_t Costs::*kCounts[] = {
      &Costs::cycles,       &Costs::compute_cycles, &Costs::tail_cycles,   &Costs::macs,
      &Costs::array_macs,   &Costs::params,         &Costs::dram_read,     &Costs::dram_write,
      &Costs::shared_read,  &Costs::shared_write,   &Costs::compute_bound, &Costs::dram_bound,
      &Costs::lower_bound,  &Costs::idle_lanes,     &Costs::dram_busy,     &Costs::sram_busy,
      &Costs::traffic_bound};
  for (int64_t Costs::*count : kCounts) add(this->*count, o.*count);
  add(stalls, o.stalls);
  add(buffer_read, o.buffer_read);
  add(buffer_write, o.buffer_write);
  energy += o.energy;
  return *this;
}

std::vector<Loss> losses(const Costs& c) {
  constexpr std::array<std::string_view, hw::kWaits> kWaiting = {
      "DRAM read", "DRAM write", "shared buffer", "array fill", "post unit", "slots"};
  std::vector<Loss> out = {{"idle lanes", c.idle_lanes}, {"tail", c.tail_cycles}};
  for (size_t w = 0; w < hw::kWaits; ++w) out.push_back({kWaiting[w], c.stalls[w]});
  std::erase_if(out, [](const Loss& l) { return l.cycles <= 0; });
  std::stable_sort(out.begin(), out.end(),
                   [](const Loss& a, const Loss& b) { return a.cycles > b.cycles; });
  return out;
}

double Report::utilization(const Costs& c) const {
  const double possible =
      static_cast<double>(c.cycles) * static_cast<double>(peak_macs_per_cycle());
  return possible > 0 ? static_cast<double>(c.macs) / possible : 0;
}

}  // namespace accsim::sim
