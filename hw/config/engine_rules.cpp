#include "hw/config/engine_rules.h"

#include <fmt/core.h>

namespace accsim::hw {
namespace {

/// Is it a machine of dot products whose file has these fields?
bool has_fields(const RuleContext& c, std::initializer_list<std::string_view> paths) {
  return c.hw.has_dot_products() && c.has_read({"array.template"}) && c.has_read(paths);
}

}  // namespace

void stripes_go_together(RuleContext& c) {
  if (!has_fields(c, {"array.stripe"})) return;
  const DotProductEngine& e = c.hw.array.engine;
  if (c.has_read({"array.short_stripe"}) && e.short_stripe > e.stripe)
    c.fail("array.short_stripe",
           fmt::format("array.short_stripe is {} but array.stripe is {}; use at most {}",
                       e.short_stripe, e.stripe, e.stripe));
  if (c.has_read({"array.places"}) && e.stripe > e.places)
    c.fail("array.stripe",
           fmt::format("array.stripe is {} but array.places is {}, which hold a stripe's output "
                       "atoms; use at most {}",
                       e.stripe, e.places, e.places));
}

void dot_products_have_one_width(RuleContext& c) {
  if (has_fields(c, {"types.activation", "types.weight"}) &&
      (c.hw.narrow_weights() || c.hw.activation_bytes() != c.hw.weight_bytes()))
    c.fail("types.weight",
           "types.weight isn't as wide as types.activation; with array.template: dot_product use "
           "the same");
  if (has_fields(c, {"types.modes"}) && !c.hw.types.modes.empty())
    c.fail("types.modes", "array.template: dot_product has no types.modes; remove them");
}

void dot_products_run_from_dram(RuleContext& c) {
  if (has_fields(c, {"buffers.shared.kib"}) && c.hw.shared.kib > 0)
    c.fail("buffers.shared.kib",
           "with array.template: dot_product layers run from DRAM to DRAM; use 0");
  if (has_fields(c, {"dram.model"}) && c.hw.dram_model == DramModel::banked)
    c.fail("dram.model",
           "with array.template: dot_product a read takes its cycles wherever it lies; use ideal");
  if (has_fields(c, {"dram.bus"}) && c.hw.dram_model == DramModel::ideal && c.hw.one_bus())
    c.fail("dram.bus",
           "with array.template: dot_product reads and writes have a channel each; use separate");
}

void banks_are_the_buffers(RuleContext& c) {
  if (!has_fields(c, {"array.banks", "array.bank_entries", "array.entry_bytes"}) ||
      !c.has_read({"buffers.activation.kib", "buffers.weight.kib"}))
    return;
  const DotProductEngine& e = c.hw.array.engine;
  const int64_t bytes = e.banks * e.bank_entries * e.entry_bytes;
  const int64_t kib = c.hw.buffer(Buffer::activation).kib + c.hw.buffer(Buffer::weight).kib;
  if (kib * 1024 != bytes)
    c.fail("array.banks",
           fmt::format("array.banks x array.bank_entries x array.entry_bytes is {} bytes but the "
                       "activation and the weight buffer have {} KiB together; make them equal",
                       bytes, kib));
}

void outputs_are_written_in_time(RuleContext& c) {
  if (!has_fields(c, {"array.atom_cycles", "array.cols", "types.activation"}) ||
      !c.has_read({"dram.write_bytes_per_cycle"}))
    return;
  const DotProductEngine e = engine_of(c.hw);
  const int64_t cycles = c.hw.dram.write.cycles(e.atom_kernels * e.element_bytes);
  if (cycles > e.atom_cycles)
    c.fail("dram.write_bytes_per_cycle",
           fmt::format("DRAM takes {} cycles to write an output atom of {} bytes but "
                       "array.atom_cycles is {}; use a higher rate",
                       cycles, e.atom_kernels * e.element_bytes, e.atom_cycles));
}

}  // namespace accsim::hw
