#include "hw/dot_product/side_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "sim/base/sums.h"
#include "sim/base/units.h"

namespace accsim::hw {
namespace {

Status check_sizes(std::string_view what, const std::array<int64_t, 3>& sizes) {
  for (const int64_t size : sizes)
    if (size < 1 || size > kMostSideSize)
      return Error{
          Errc::invalid, fmt::format("sizes of {} must be 1 to {}", what, kMostSideSize), {}};
  return ok();
}

Status check_cycles(int64_t atoms, int64_t cycles) {
  if (multiply_counts(atoms, cycles) < kMostSideCycles) return ok();
  return Error{Errc::overflow, "cycles of a layer leave 64 bits", {}};
}

/// Cycles per atom of a unit of this rate, for which so many reads are made.
int64_t atom_cycles(int64_t rate, int64_t reads, const SideUnits& units) {
  return std::max(ceil_div(units.atom_elements, rate),
                  multiply_counts(reads, units.request_interval));
}

/// What comes before a point-wise layer's first element is through.
struct PointPath {
  int64_t begin = 0;  ///< cycles from time zero
  int64_t atom = 0;   ///< cycles per atom
};

/// Section "Point-wise layers". A single position is read as one line, of all its atoms.
PointPath point_path(const PointLayer& layer, const SideUnits& units) {
  const int64_t deep = ceil_div(layer.channels, units.atom_elements);
  const int64_t line = layer.width == 1 && layer.height == 1 ? deep : layer.width;
  int64_t reads = 1, clients = 1, stages = 0;
  for (const PointStage& stage : layer.stages) {
    reads = add_counts(reads, stage.operand_reads);
    clients += stage.operand_reads > 0;
    stages += units.stage_latency + (stage.alu ? units.alu_latency : 0) +
              (stage.mul ? units.mul_latency : 0);
  }
  const int64_t block = (std::min(line, units.point_block) - 1) * clients * units.request_interval;
  return {units.unit_start + units.read_latency + block + units.point_latency + stages,
          atom_cycles(units.point_rate, reads, units)};
}

int64_t atoms_of(int64_t width, int64_t height, int64_t channels, const SideUnits& units) {
  return width * height * ceil_div(channels, units.atom_elements);
}

Status check_point(const PointLayer& layer, const SideUnits& units) {
  if (Status fields = check_side_units(units); !fields) return fields.errors();
  if (Status sizes = check_sizes("a point-wise layer", {layer.width, layer.height, layer.channels});
      !sizes)
    return sizes.errors();
  if (std::ssize(layer.stages) > units.point_stages)
    return Error{Errc::capacity,
                 fmt::format("{} stages of a point-wise layer are more than the {} that there are",
                             layer.stages.size(), units.point_stages),
                 {}};
  for (const PointStage& stage : layer.stages)
    if (stage.operand_reads < 0 || stage.operand_reads > units.atom_elements)
      return Error{Errc::invalid, "reads of operands must be 0 to 1 per element", {}};
  return check_cycles(atoms_of(layer.width, layer.height, layer.channels, units),
                      point_path(layer, units).atom);
}

}  // namespace

Result<SideEvents> time_lrn(const LrnLayer& layer, const SideUnits& units) {
  if (Status fields = check_side_units(units); !fields) return fields.errors();
  if (Status sizes = check_sizes("an LRN layer", {layer.width, layer.height, layer.channels});
      !sizes)
    return sizes.errors();
  const int64_t atom = atom_cycles(units.lrn_rate, 1, units);
  const int64_t atoms = atoms_of(layer.width, layer.height, layer.channels, units);
  const int64_t ahead = ceil_div(units.lrn_ahead, units.lrn_rate);
  if (Status fine = check_cycles(atoms, atom + ahead); !fine) return fine.errors();
  // Blocks of a line, and what the last one is short of a whole one.
  const int64_t first = std::min(layer.width, units.lrn_width);
  const int64_t blocks = ceil_div(layer.width, units.lrn_width);
  const int64_t last = layer.width - (blocks - 1) * units.lrn_width;
  const int64_t held = blocks > 1 ? layer.height * (units.lrn_width - last) * ahead : 0;
  const int64_t fill =
      std::max<int64_t>(0, (first - 1) * (units.request_interval - 1) - units.lrn_set_up);
  const int64_t latency = layer.bypass ? units.lrn_bypass_latency : units.lrn_latency;
  const int64_t begin = units.unit_start + units.read_latency + fill + latency;
  return SideEvents{
      units.unit_start, begin + first * (atom + ahead),
      begin + atoms * atom + held + last * ahead + (last - 1) * units.request_interval};
}

Result<SideEvents> time_point(const PointLayer& layer, const SideUnits& units) {
  if (Status fine = check_point(layer, units); !fine) return fine.errors();
  const PointPath path = point_path(layer, units);
  const int64_t atoms = atoms_of(layer.width, layer.height, layer.channels, units);
  return SideEvents{units.unit_start, path.begin + path.atom, path.begin + atoms * path.atom};
}

}  // namespace accsim::hw
