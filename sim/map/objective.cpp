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

ObjectiveFunction widen_slack(ObjectiveFunction objective) {
  objective.slack *= kWideSlack;
  return objective;
}

double primary_score(const ObjectiveFunction& objective, int64_t cycles, double picojoules,
                     int64_t dram_bytes) {
  const auto delay = static_cast<double>(cycles);
  switch (objective.quantity) {
    case Objective::energy:
      return picojoules;
    case Objective::edp:
      return objective.cycle_price > 0 ? picojoules + objective.cycle_price * delay
                                       : picojoules * delay;
    case Objective::traffic:
      return static_cast<double>(dram_bytes);
    case Objective::cycles:
      break;
  }
  return delay;
}

double energy_traffic(const ObjectiveFunction& objective, double picojoules, double dram_bytes) {
  return picojoules * (objective.tensor_bytes + dram_bytes);
}

Score mapping_score(const ObjectiveFunction& objective, const Cost& cost, const hw::HwConfig& hw) {
  const int64_t cycles = cost.timing.total.count();
  const int64_t bytes = cost.counts.moved(hw::MemoryId::dram).count();
  const double picojoules = objective.weighs_energy()
                                ? total_energy(energy(cost.counts, cost.timing.total, hw)).value()
                                : 0;
  const double both =
      objective.has_slack() ? energy_traffic(objective, picojoules, static_cast<double>(bytes)) : 0;
  return {primary_score(objective, cycles, picojoules, bytes), cycles, bytes, picojoules, both};
}

}  // namespace accsim::sim
