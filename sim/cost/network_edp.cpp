#include "sim/cost/network_edp.h"

#include <optional>

#include "hw/energy/energy.h"

namespace accsim::sim {
namespace {

struct Sums {
  double picojoules = 0, cycles = 0;

  double energy_delay_product() const { return picojoules * cycles; }
};

/// Of the mappings that a mapper chooses; nothing where an op has none, or they take too long.
std::optional<Sums> sums_of(std::span<const NetworkOp> ops, Mapper& mapper) {
  Sums out;
  for (const NetworkOp& op : ops) {
    if (mapper.is_over()) return std::nullopt;
    const auto mapping = mapper.map(*op.request, *op.layer);
    if (!mapping) return std::nullopt;
    const Cycles cycles = (*mapping)->timing.total;
    const hw::HwConfig& machine = mapper.machine_of(*op.request);
    out.picojoules += total_energy(energy((*mapping)->counts, cycles, machine)).value();
    out.cycles += static_cast<double>(cycles.count());
  }
  return out;
}

}  // namespace

std::unique_ptr<Mapper> network_mapper(std::span<const NetworkOp> ops, const hw::HwConfig& hw,
                                       const MapOptions& options) {
  if (options.objective != Objective::edp || options.only_rule())
    return std::make_unique<Mapper>(hw, options);
  constexpr int kMostPrices = 8;
  constexpr double kHardly = 0.999;
  // Mappings of few cycles and little energy are quickly found, and their price is near.
  MapOptions first = options;
  first.objective = Objective::cycles;
  first.slack = kDefaultSlack;
  first.programs = false;
  MapOptions priced = options;
  auto mapper = std::make_unique<Mapper>(hw, first);
  std::optional<Sums> sums = sums_of(ops, *mapper);
  if (mapper->is_over()) return mapper;
  for (int i = 0; i < kMostPrices && sums && sums->energy_delay_product() > 0; ++i) {
    const Sums before = *sums;
    priced.cycle_price = before.picojoules / before.cycles;
    if (options.limit) options.limit->start_over();
    mapper = std::make_unique<Mapper>(hw, priced);
    sums = sums_of(ops, *mapper);
    if (!sums || sums->energy_delay_product() >= kHardly * before.energy_delay_product()) break;
  }
  // Where there is nothing to price, or something can't be mapped, there is no mapper of them yet.
  if (priced.cycle_price == 0) mapper = std::make_unique<Mapper>(hw, priced);
  return mapper;
}

}  // namespace accsim::sim
