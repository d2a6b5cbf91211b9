#include "sim/compare/cause.h"

#include <algorithm>
#include <numeric>

#include "sim/base/check.h"

namespace accsim::sim {

std::string_view name(Unit u) {
  constexpr std::array<std::string_view, kUnits> kNames = {
      "the array",         "the vector unit", "moving of bytes", "DRAM",
      "the shared buffer", "occupied slots",  "layers' tails",   "other"};
  return kNames[static_cast<size_t>(u)];
}

std::string_view unit_key(Unit u) {
  constexpr std::array<std::string_view, kUnits> kKeys = {"array",  "vector", "mover", "dram",
                                                          "shared", "slots",  "tail",  "none"};
  return kKeys[static_cast<size_t>(u)];
}

std::span<const CauseInfo, kCauses> cause_table() {
  static constexpr std::array<CauseInfo, kCauses> kTable = {{
      {"array", "array at full rate", Unit::array,
       "multiply-accumulates over rows x cols: what they take with every element busy"},
      {"array_idle", "array lanes idle", Unit::array,
       "the array is busy beyond that: ragged tiles, few channels, zero blocks of packed groups"},
      {"weight_load", "weight load", Unit::array,
       "the array waits for stationary operands that are being shifted in: passes shorter than it "
       "is deep"},
      {"array_fill", "array fill", Unit::array,
       "the array waits for results on their way through it: fill and drain"},
      {"vector", "vector at full rate", Unit::vector,
       "operations over lanes, by class, of layers on the vector unit"},
      {"vector_idle", "vector lanes idle", Unit::vector,
       "the vector unit is busy beyond that: ragged chunks, buffer ports narrower than its lanes"},
      {"moves", "moves", Unit::mover, "the load engine is busy with layers that only move bytes"},
      {"dram_read", "wait DRAM read", Unit::dram,
       "the layer's main unit waits for operands, weights among them, from DRAM"},
      {"dram_write", "wait DRAM write", Unit::dram,
       "it waits for output slots that haven't drained to DRAM"},
      {"shared", "wait shared", Unit::shared, "it waits for the shared buffer, either way"},
      {"post", "wait post", Unit::vector, "it waits for the post-processing or vector unit"},
      {"slots", "wait slots", Unit::slots, "it waits for a slot that is still being read"},
      {"tail", "tail", Unit::tail,
       "behind the main unit's last work of a layer: results on their way out"},
      {"overlap", "overlap of layers", Unit::none,
       "the run's cycles less the sum of its layers'; 0 when they run one after the other"},
      {"only_a", "layers only in A", Unit::none, "all cycles of layers without a partner in B"},
      {"only_b", "layers only in B", Unit::none, "all cycles of layers without a partner in A"},
  }};
  return kTable;
}

int64_t sum_causes(const CauseCycles& c) { return std::accumulate(c.begin(), c.end(), int64_t{0}); }

CauseCycles causes_of(const Costs& c) {
  CauseCycles out{};
  // Of what is done under the layers before, nothing is in the layer's cycles.
  const int64_t array = c.compute_cycles - c.vector_cycles - c.move_cycles;
  cycles_by(out, Cause::array) = std::min(array, c.compute_bound - c.vector_bound);
  cycles_by(out, Cause::array_idle) = array - cycles_by(out, Cause::array);
  cycles_by(out, Cause::vector) = std::min(c.vector_cycles, c.vector_bound);
  cycles_by(out, Cause::vector_idle) = c.vector_cycles - cycles_by(out, Cause::vector);
  cycles_by(out, Cause::moves) = c.move_cycles;
  constexpr std::array<Cause, hw::kWaits> kOfWait = {
      Cause::dram_read,  Cause::dram_write, Cause::shared, Cause::weight_load,
      Cause::array_fill, Cause::post,       Cause::slots};
  for (size_t w = 0; w < hw::kWaits; ++w) cycles_by(out, kOfWait[w]) = c.stalls[w];
  cycles_by(out, Cause::tail) = c.tail_cycles;
  check(sum_causes(out) == c.cycles, "a layer's busy cycles, waits and tail aren't its cycles");
  return out;
}

}  // namespace accsim::sim
