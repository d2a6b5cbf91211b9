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

double primary(Objective o, int64_t cycles, double picojoules, int64_t dram_bytes) {
  switch (o) {
    case Objective::energy:
      return picojoules;
    case Objective::edp:
      return picojoules * static_cast<double>(cycles);
    case Objective::traffic:
      return static_cast<double>(dram_bytes);
    case Objective::cycles:
      break;
  }
  return static_cast<double>(cycles);
}

Score score(Objective o, const Cost& cost, const hw::HwConfig& hw) {
  const int64_t cycles = cost.timing.total.count();
  const auto dram = static_cast<size_t>(hw::Memory::dram);
  const int64_t bytes = (cost.counts.read[dram] + cost.counts.written[dram]).count();
  const bool needs_energy = o == Objective::energy || o == Objective::edp;
  const double picojoules =
      needs_energy ? total(energy(cost.counts, cost.timing.total, hw)).value() : 0;
  return {primary(o, cycles, picojoules, bytes), cycles, bytes};
}

}  // namespace accsim::sim
