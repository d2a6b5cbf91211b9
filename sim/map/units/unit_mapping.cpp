#include "sim/map/units/unit_mapping.h"

#include <fmt/format.h>

#include <concepts>
#include <string>

#include "sim/base/sums.h"
#include "sim/map/engine_steps.h"

namespace accsim::sim {
namespace {

/// Atoms that a run reads and writes, of one image.
struct Atoms {
  int64_t read = 0, written = 0;
};

int64_t surfaces(int64_t channels, const hw::SideUnits& units) {
  return ceil_div(channels, units.atom_elements);
}

Atoms atoms_of(const hw::PoolLayer& layer, const hw::SideUnits& units) {
  int64_t columns = layer.strips.empty() ? layer.width : 0;
  for (const hw::PoolStrip& strip : layer.strips) columns += strip.width;
  const int64_t deep = surfaces(layer.channels, units);
  return {multiply_counts(columns * layer.height, deep),
          multiply_counts(layer.out_width * layer.out_height, deep)};
}

Atoms atoms_of(const hw::LrnLayer& layer, const hw::SideUnits& units) {
  const int64_t atoms =
      multiply_counts(layer.width * layer.height, surfaces(layer.channels, units));
  return {atoms, atoms};
}

Atoms atoms_of(const hw::PointLayer& layer, const hw::SideUnits& units) {
  const int64_t atoms =
      multiply_counts(layer.width * layer.height, surfaces(layer.channels, units));
  int64_t reads = 1;
  for (const hw::PointStage& stage : layer.stages) reads = add_counts(reads, stage.operand_reads);
  return {multiply_counts(atoms, reads), atoms};
}

Result<hw::SideEvents> time_layer(const hw::PoolLayer& layer, const hw::SideUnits& units) {
  return time_pooling(layer, units);
}
Result<hw::SideEvents> time_layer(const hw::LrnLayer& layer, const hw::SideUnits& units) {
  return time_lrn(layer, units);
}
Result<hw::SideEvents> time_layer(const hw::PointLayer& layer, const hw::SideUnits& units) {
  return time_point(layer, units);
}

// What a pin says of a layer, and what follows from the machine.

void finish_layer(hw::PoolLayer& layer, const UnitPin& pin, const hw::SideUnits& units) {
  layer.strips = pin.strips.empty() ? fewest_strips(layer, units) : pin.strips;
}
void finish_layer(hw::LrnLayer& layer, const UnitPin& pin, const hw::SideUnits&) {
  layer.bypass = pin.bypass;
}
void finish_layer(hw::PointLayer& layer, const UnitPin& pin, const hw::SideUnits&) {
  if (pin.stages) layer.stages = *pin.stages;
}

std::string text_of(const hw::PoolLayer& layer) {
  if (layer.strips.empty()) return "pooling";
  return fmt::format("pooling, {} strips", layer.strips.size());
}
std::string text_of(const hw::LrnLayer& layer) {
  return layer.bypass ? "normalisation across channels, bypassed" : "normalisation across channels";
}
std::string text_of(const hw::PointLayer& layer) {
  return fmt::format("point-wise, {} stage{}", layer.stages.size(),
                     layer.stages.size() == 1 ? "" : "s");
}

Error beyond_stamps() { return {Errc::overflow, "its cycles are more than can be timed", ""}; }

/// What some runs cost, one after the other.
struct UnitPlan {
  int64_t cycles = 0, read = 0, written = 0;  ///< bytes of DRAM
  int64_t layers = 0;
  std::string text;
};

Status add_run(const UnitRun& run, const UnitPin& pin, const hw::HwConfig& hw, UnitPlan& plan) {
  const hw::SideUnits units = hw::side_units_of(hw);
  return std::visit(
      [&](auto layer) -> Status {
        finish_layer(layer, pin, units);
        const Result<hw::SideEvents> events = time_layer(layer, units);
        if (!events) return events.errors();
        const Atoms atoms = atoms_of(layer, units);
        const int64_t bytes =
            multiply_counts(run.times, multiply_counts(units.atom_elements, hw.activation_bytes()));
        const auto add = [&](int64_t& sum, int64_t a, int64_t b) {
          sum = add_counts(sum, multiply_counts(a, b));
        };
        // What no output needs is read, too, and the unit isn't free before.
        const int64_t taken = pin.to_last_write
                                  ? 0
                                  : add_counts(units.unit_start + units.read_latency,
                                               least_unit_cycles({.runs = {{layer, 1}}}, units));
        add(plan.cycles, std::max(events->last_write, taken), run.times);
        add(plan.read, atoms.read, bytes);
        add(plan.written, atoms.written, bytes);
        plan.layers = add_counts(plan.layers, run.times);
        plan.text += (plan.text.empty() ? "" : "; ") + text_of(layer);
        return ok();
      },
      run.layer);
}

/// What the layers wait for beyond their elements: the first answer, and reads that take longer
/// than the elements; then what is on its way to memory.
hw::EngineWaits waits_of(const UnitPlan& plan, const UnitWork& work, const hw::HwConfig& hw) {
  const hw::SideUnits units = hw::side_units_of(hw);
  const int64_t least = least_unit_cycles(work, units);
  const int64_t all = std::max<int64_t>(0, plan.cycles - least);
  const int64_t first = multiply_counts(plan.layers, units.unit_start + units.read_latency);
  const int64_t reads = std::max<int64_t>(0, hw.dram.read.cycles(plan.read) - least);
  hw::EngineWaits out;
  out.reads = std::min(all, add_counts(first, reads));
  out.outputs = all - out.reads;
  return out;
}

/// Places of what the op reads, or writes.
std::vector<Place> places_of(const std::vector<Access>& accesses, const std::vector<Operand>& side,
                             const hw::HwConfig& hw) {
  std::vector<Place> out;
  for (const Access& a : accesses) out.push_back(operand_of_port(side, a.port, hw).place);
  return out;
}

}  // namespace

Result<std::optional<Mapping>> map_on_units(const VectorOp& op, const OpRequest& r,
                                            const MappingPin& pin, const hw::HwConfig& hw) {
  if (!r.unit || !r.unit->lacks.empty() || r.unit->runs.empty()) return std::optional<Mapping>();
  UnitPlan plan;
  for (const UnitRun& run : r.unit->runs) {
    const Status added = add_run(run, pin.unit.value_or(UnitPin{}), hw, plan);
    if (added) continue;
    if (pin.unit && pin.unit->says_work()) return added.errors();
    return std::optional<Mapping>();
  }
  if (plan.cycles > kMostEngineCycles || plan.read > kMostEngineCycles) return beyond_stamps();
  Mapping m;
  m.candidates = m.evaluated = 1;
  m.counts.commands = plan.layers;
  m.counts.vector_ops = op.ops;
  m.counts.read[hw::MemoryId::dram] = Bytes(plan.read);
  m.counts.written[hw::MemoryId::dram] = Bytes(plan.written);
  m.counts.engine = waits_of(plan, *r.unit, hw);
  m.description = plan.text;
  m.unverifiable = kUnitsAlone;
  const std::vector<Place> reads = places_of(op.inputs, r.inputs, hw);
  const std::vector<Place> writes = places_of(op.outputs, r.outputs, hw);
  write_engine_steps(reads, writes, plan.cycles, hw, m);
  return std::optional(std::move(m));
}

std::string_view lack_of_units(const OpRequest& r) {
  if (!r.unit) return "";
  return r.unit->lacks.empty() ? kBeyondUnits : r.unit->lacks;
}

int64_t least_unit_cycles(const UnitWork& work, const hw::SideUnits& units) {
  int64_t out = 0;
  for (const UnitRun& run : work.runs)
    std::visit(
        [&]<class Layer>(const Layer& layer) {
          int64_t rate = units.point_rate;
          if constexpr (std::same_as<Layer, hw::PoolLayer>) rate = units.pool_rate;
          if constexpr (std::same_as<Layer, hw::LrnLayer>) rate = units.lrn_rate;
          const int64_t atoms =
              multiply_counts(layer.width * layer.height, surfaces(layer.channels, units));
          const int64_t cycles = multiply_counts(atoms, ceil_div(units.atom_elements, rate));
          out = add_counts(out, multiply_counts(cycles, run.times));
        },
        run.layer);
  return out;
}

}  // namespace accsim::sim
