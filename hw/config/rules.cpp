#include "hw/config/rules.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "hw/config/energy_rules.h"
#include "hw/config/engine_rules.h"
#include "hw/config/mode_rules.h"
#include "hw/config/token_rules.h"
#include "hw/config/type_modes.h"
#include "hw/config/unit_rules.h"

namespace accsim::hw {
namespace {

std::string buffer_key(Buffer b, std::string_view leaf) {
  return fmt::format("buffers.{}.{}", name(b), leaf);
}

void operands_are_of_one_kind(RuleContext& c) {
  if (!c.has_read({"types.activation", "types.weight"})) return;
  const TypesConfig& t = c.hw.types;
  if (is_float(t.activation) == is_float(t.weight)) return;
  c.fail("types.weight",
         fmt::format("types.weight is {} but types.activation is {}; make both integer or both "
                     "floating point",
                     name(t.weight), name(t.activation)));
}

void narrow_weights_go_with_int8(RuleContext& c) {
  if (!c.has_read({"types.activation", "types.weight"})) return;
  const TypesConfig& t = c.hw.types;
  if (!is_packed(t.weight) || c.hw.computes_int8() || is_float(t.activation)) return;
  c.fail("types.weight", fmt::format("types.weight is int4 but types.activation is {}; use int8",
                                     name(t.activation)));
}

void accumulator_fits_operands(RuleContext& c) {
  if (!c.has_read({"types.activation", "types.accumulator"})) return;
  const TypesConfig& t = c.hw.types;
  const DType wanted = accumulator_of(t.activation);
  if (t.accumulator == wanted) return;
  c.fail("types.accumulator",
         fmt::format("types.accumulator is {} but types.activation is {}; use {}",
                     name(t.accumulator), name(t.activation), name(wanted)));
}

void dataflows_are_a_set(RuleContext& c) {
  if (!c.has_read({"array.dataflows"})) return;
  const auto& flows = c.hw.array.dataflows;
  if (flows.empty()) {
    c.fail("array.dataflows", "array.dataflows is empty; name at least weight_stationary");
  }
  for (size_t i = 0; i < flows.size(); ++i) {
    const bool again = std::find(flows.begin() + static_cast<std::ptrdiff_t>(i) + 1, flows.end(),
                                 flows[i]) != flows.end();
    const bool first = std::find(flows.begin(), flows.end(), flows[i]) ==
                       flows.begin() + static_cast<std::ptrdiff_t>(i);
    if (again && first) {
      c.fail("array.dataflows",
             fmt::format("array.dataflows names {} twice; remove one", name(flows[i])));
    }
  }
}

void fills_have_rows(RuleContext& c) {
  if (!c.has_read({"array.fill_rows", "array.template"}) || c.hw.array.fill_rows == 1) return;
  const auto& flows = c.hw.array.dataflows;
  const auto fail = [&](std::string_view why) {
    c.fail("array.fill_rows",
           fmt::format("array.fill_rows is {} but {}", c.hw.array.fill_rows, why));
  };
  if (c.hw.has_dot_products())
    fail("array.template: dot_product loads weights otherwise; use 1");
  else if (c.has_read({"array.dataflows"}) && !flows.empty() &&
           std::ranges::find(flows, Dataflow::weight_stationary) == flows.end())
    fail("array.dataflows has no weight_stationary; use 1");
  else if (c.has_read({"array.rows"}) && c.hw.array.fill_rows > c.hw.array.rows)
    fail(fmt::format("array.rows is {}; use at most {}", c.hw.array.rows, c.hw.array.rows));
}

void slots_divide_buffer(RuleContext& c) {
  for (size_t i = 0; i < kBuffers; ++i) {
    const auto b = static_cast<Buffer>(i);
    if (!c.has_read({buffer_key(b, "kib"), buffer_key(b, "slots")})) continue;
    const auto& [kib, slots, width] = c.hw.buffer(b);
    if (kib * 1024 % slots == 0) continue;
    const int64_t step = slots / std::gcd(slots, int64_t{1024});
    const int64_t below = kib / step * step;
    const std::string fits =
        below > 0 ? fmt::format("{} or {}", below, below + step) : fmt::format("{}", below + step);
    c.fail(buffer_key(b, "kib"),
           fmt::format("{} KiB can't be cut into {} = {} equal slots; use {} KiB", kib,
                       buffer_key(b, "slots"), slots, fits));
  }
}

/// Fails when a slot of `b` holds less than `bytes`; `what` says what that is.
void need_slot(RuleContext& c, Buffer b, int64_t bytes, std::string_view what) {
  if (!c.has_read({buffer_key(b, "kib"), buffer_key(b, "slots")})) return;
  const BufferConfig& buffer = c.hw.buffer(b);
  if (buffer.slot_bytes() >= bytes) return;
  c.fail(buffer_key(b, "kib"),
         fmt::format("one slot of the {} buffer is {} KiB / {} = {} bytes, but {} takes {} bytes; "
                     "use at least {} KiB",
                     name(b), buffer.kib, buffer.slots, buffer.slot_bytes(), what, bytes,
                     ceil_div(bytes * buffer.slots, 1024)));
}

void need_slot(RuleContext& c, const SlotNeed& need) {
  need_slot(c, need.buffer, need.bytes, need.what);
}

void activation_slot_holds_a_vector(RuleContext& c) {
  if (c.has_read({"array.rows", "types.activation"})) need_slot(c, vector_need(c.hw));
}

/// Weights and sums of an engine of dot products don't lie in slots: it divides banks, and has
/// places for sums.
void weight_slot_holds_a_tile(RuleContext& c) {
  if (c.hw.has_dot_products()) return;
  if (c.has_read({"array.rows", "array.cols", "types.weight"})) need_slot(c, tile_need(c.hw));
}

void parameter_slot_holds_a_row(RuleContext& c) {
  if (c.has_read({"array.cols", "types.accumulator"})) need_slot(c, parameter_need(c.hw));
}

void accumulator_slot_holds_a_row(RuleContext& c) {
  if (c.hw.has_dot_products()) return;
  if (c.has_read({"array.cols", "types.accumulator"})) need_slot(c, sums_need(c.hw));
}

void output_slot_holds_a_row(RuleContext& c) {
  if (c.has_read({"array.cols", "types.activation"})) need_slot(c, output_need(c.hw));
}

/// Groups of weights that no layer could use. A group is a tile.
void groups_of_weights_fit(RuleContext& c) {
  if (!c.has_read({"types.weight", "types.weight_group"})) return;
  const BufferConfig& sums = c.hw.buffer(Buffer::accumulator);
  const bool has_row = c.has_read({"array.cols", "types.accumulator"}) && sums.slots > 0 &&
                       sums.slot_bytes() >= sums_need(c.hw).bytes;
  for (const SlotNeed& need : group_needs(c.hw))
    if (need.buffer != Buffer::accumulator || has_row) need_slot(c, need);
}

/// A nearer memory that is slower is a mistake, and a bigger one would then cost cycles.
void shared_is_not_slower_than_dram(RuleContext& c) {
  if (!c.has_read({"buffers.shared.kib"}) || c.hw.shared.kib == 0) return;
  const ChannelConfig& near = c.hw.shared.channel;
  const ChannelConfig& far = c.hw.dram;
  const bool banked = c.hw.dram_model == DramModel::banked;
  if (banked && !c.has_read({"clock_mhz", "dram.preset", "dram.channels"})) return;
  const auto compare_rates = [&](std::string_view leaf, ByteRate a, ByteRate b) {
    const std::string path = fmt::format("buffers.shared.{}", leaf);
    const std::string other = fmt::format("dram.{}", leaf);
    if (!c.has_read({path}) || (!banked && !c.has_read({other})) || a.milli >= b.milli) return;
    c.fail(path,
           fmt::format("{} is {} but {} is {}{}; the shared memory must not be slower than DRAM",
                       path, a.value(), banked ? "the peak of the DRAM" : other, b.value(),
                       banked ? " bytes a cycle" : ""));
  };
  compare_rates("read_bytes_per_cycle", near.read, far.read);
  compare_rates("write_bytes_per_cycle", near.write, far.write);
  const bool known = banked || c.has_read({"dram.latency"});
  if (known && c.has_read({"buffers.shared.latency"}) && near.latency > far.latency) {
    c.fail("buffers.shared.latency",
           fmt::format("buffers.shared.latency is {} but {} is {}; the shared memory must not be "
                       "slower than DRAM",
                       near.latency, banked ? "the DRAM's" : "dram.latency", far.latency));
  }
}

constexpr std::array<Rule, 34> kRules = {{
    {"operands_are_of_one_kind", "activation and weight types are both integer or both float",
     operands_are_of_one_kind},
    {"narrow_weights_go_with_int8", "int4 weights go with int8 activations",
     narrow_weights_go_with_int8},
    {"accumulator_fits_operands", "integer types go with int32 sums, float types with float32 sums",
     accumulator_fits_operands},
    {"dataflows_are_a_set", "there is at least one dataflow, and none stands twice",
     dataflows_are_a_set},
    {"fills_have_rows",
     "array.fill_rows is at most array.rows, and 1 without weight_stationary and with "
     "array.template: dot_product",
     fills_have_rows},
    {"stripes_go_together",
     "with array.template: dot_product, a short stripe is no longer than a stripe, and a stripe no "
     "longer than there are places",
     stripes_go_together},
    {"dot_products_have_one_width",
     "with array.template: dot_product, weights are as wide as activations, and there are no modes",
     dot_products_have_one_width},
    {"dot_products_run_from_dram",
     "with array.template: dot_product, there is no shared memory, and DRAM is ideal with a "
     "channel per direction",
     dot_products_run_from_dram},
    {"banks_are_the_buffers",
     "with array.template: dot_product, the banks are the activation and the weight buffer",
     banks_are_the_buffers},
    {"outputs_are_written_in_time",
     "with array.template: dot_product, DRAM takes an output atom in array.atom_cycles",
     outputs_are_written_in_time},
    {"units_stand_beside_dot_products",
     "vector.template: units goes with array.template: dot_product",
     units_stand_beside_dot_products},
    {"set_up_is_part_of_latencies",
     "with vector.template: units, LRN's set-up is no longer than either of its latencies",
     set_up_is_part_of_latencies},
    {"units_take_atoms_in_time",
     "with vector.template: units, DRAM takes an atom in at most 1048576 cycles",
     units_take_atoms_in_time},
    {"slots_divide_buffer", "each buffer's bytes are a multiple of its slots", slots_divide_buffer},
    {"activation_slot_holds_a_vector", "an activation slot holds rows x activation type",
     activation_slot_holds_a_vector},
    {"weight_slot_holds_a_tile", "a weight slot holds rows x cols x weight type",
     weight_slot_holds_a_tile},
    {"parameter_slot_holds_a_row",
     "a parameter slot holds cols x 12 bytes (integer: int32 bias, multiplier, shift) or cols x 4 "
     "bytes (float: bias)",
     parameter_slot_holds_a_row},
    {"accumulator_slot_holds_a_row", "an accumulator slot holds cols x accumulator type",
     accumulator_slot_holds_a_row},
    {"output_slot_holds_a_row", "an output slot holds cols x activation type",
     output_slot_holds_a_row},
    {"groups_of_weights_fit",
     "with groups of int4 weights (weight_group > 0), an activation slot holds weight_group x "
     "activation type; a weight slot holds weight_group / 2 bytes; an accumulator slot holds two "
     "rows",
     groups_of_weights_fit},
    {"shared_is_not_slower_than_dram",
     "a shared memory (kib > 0) has at least DRAM's rates and at most its latency",
     shared_is_not_slower_than_dram},
    {"modes_are_a_set", "types.modes has no pair of types twice, nor the machine's own pair",
     modes_are_a_set},
    {"modes_have_types_that_go_together",
     "in a mode, integer activations go with integer weights, and int4 weights go with int8 or "
     "float activations",
     modes_have_types_that_go_together},
    {"modes_have_products_of_activations",
     "if a mode's activations aren't of the machine's own type, a mode has weights of their type",
     modes_have_products_of_activations},
    {"modes_have_whole_rows", "rate x rows is a whole number", modes_have_whole_rows},
    {"modes_hold_what_is_multiplied",
     "a machine that is only output stationary has the rate 1 in every mode",
     modes_hold_what_is_multiplied},
    {"modes_fit_the_slots",
     "for each mode, with its types and rate x rows, the slots hold as much as the rules above ask "
     "for",
     modes_fit_the_slots},
    {"engines_are_there",
     "kinds of commands and token queues name engines of engines.queues; each list has at most 32 "
     "entries",
     engines_are_there},
    {"engines_have_names_of_their_own",
     "no two engines, and no two kinds of commands, have one name",
     engines_have_names_of_their_own},
    {"engines_have_whole_beats",
     "commands and items that are written are whole beats (port_bytes), and a page (page_beats x "
     "port_bytes) is whole commands and whole items",
     engines_have_whole_beats},
    {"one_engine_writes", "kinds with work: write are of one engine", one_engine_writes},
    {"energies_are_known",
     "energies that are left out follow from a technology; energies of DRAM follow from "
     "dram.preset or energy.dram",
     energies_are_known},
    {"modes_have_energies", "a mode may leave mac_pj out only on a machine with a technology",
     modes_have_energies},
    {"dram_has_one_kind", "only a machine with an ideal DRAM and a technology has energy.dram",
     dram_has_one_kind},
}};

}  // namespace

SlotNeed vector_need(const HwConfig& hw) {
  return {Buffer::activation, hw.array.rows * hw.activation_bytes(),
          "one input vector of the array (rows x activation type)"};
}

SlotNeed tile_need(const HwConfig& hw) {
  const int64_t bytes =
      hw.narrow_weights() ? ceil_div(hw.array.cols, 2) : hw.array.cols * hw.weight_bytes();
  return {Buffer::weight, hw.array.rows * bytes, "one weight tile (rows x cols x weight type)"};
}

SlotNeed parameter_need(const HwConfig& hw) {
  return {Buffer::parameter, hw.array.cols * hw.parameter_bytes(),
          "one set of parameters (cols x bias and requantisation)"};
}

SlotNeed sums_need(const HwConfig& hw) {
  return {Buffer::accumulator, hw.array.cols * hw.accumulator_bytes(),
          "one row of sums (cols x accumulator type)"};
}

std::vector<SlotNeed> group_needs(const HwConfig& hw) {
  const int64_t group = hw.types.weight_group;
  if (!hw.narrow_weights() || group == 0) return {};
  return {
      {Buffer::activation, group * hw.activation_bytes(), "a group of types.weight_group channels"},
      {Buffer::weight, ceil_div(group, 2), "a group of types.weight_group weights of 4 bits"},
      {Buffer::accumulator, 2 * sums_need(hw).bytes,
       "a row of sums for each of two groups (types.weight_group)"}};
}

SlotNeed output_need(const HwConfig& hw) {
  return {Buffer::output, hw.array.cols * hw.activation_bytes(),
          "one row of outputs (cols x activation type)"};
}

bool RuleContext::has_read(std::initializer_list<std::string_view> paths) const {
  return std::all_of(paths.begin(), paths.end(),
                     [&](std::string_view p) { return read_.find(p) != read_.end(); });
}

void RuleContext::fail(std::string_view path, std::string message) {
  const auto at = read_.find(path);
  check(at != read_.end(), "a rule reports at a field it has not asked for");
  errors_.push_back({at->second, std::move(message)});
}

std::span<const Rule> config_rules() { return kRules; }

}  // namespace accsim::hw
