#include "sim/map/objective.h"

#include <array>

#include "hw/energy/energy.h"

namespace accsim::sim {
namespace {

constexpr std::array<std::string_view, kObjectives> kNames = {"cycles", "energy", "edp", "traffic"};

}  // namespace

std::string_view name(Objective o) { return kNames[static_cast<size_t>(o)]; }

std::optional<Objective> objective_from(std::string_view name) {
  for (size_t i = 0; i < kObjectives; ++i)
    if (kNames[i] == name) return static_cast<Objective>(i);
  return std::nullopt;
}

Aim beyond_slack(Aim aim) {
  aim.slack *= kBeyondSlack;
  return aim;
}

double primary_score(const Aim& aim, int64_t cycles, double picojoules, int64_t dram_bytes) {
  const auto delay = static_cast<double>(cycles);
  switch (aim.objective) {
    case Objective::energy:
      return picojoules;
    case Objective::edp:
      return aim.cycle_price > 0 ? picojoules + aim.cycle_price * delay : picojoules * delay;
    case Objective::traffic:
      return static_cast<double>(dram_bytes);
    case Objective::cycles:
      break;
  }
  return delay;
}

double burden(const Aim& aim, double picojoules, double dram_bytes) {
  return picojoules * (aim.tensor_bytes + dram_bytes);
}

Score mapping_score(const Aim& aim, const Cost& cost, const hw::HwConfig& hw) {
  const int64_t cycles = cost.timing.total.count();
  const auto dram = static_cast<size_t>(hw::Memory::dram);
  const int64_t bytes = (cost.counts.read[dram] + cost.counts.written[dram]).count();
  const double picojoules =
      aim.weighs_energy() ? total_energy(energy(cost.counts, cost.timing.total, hw)).value() : 0;
  const double both = aim.has_slack() ? burden(aim, picojoules, static_cast<double>(bytes)) : 0;
  return {primary_score(aim, cycles, picojoules, bytes), cycles, bytes, picojoules, both};
}

}  // namespace accsim::sim
