#include "hw/config/rules.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace accsim::hw {
namespace {

std::string key(Buffer b, std::string_view leaf) {
  return fmt::format("buffers.{}.{}", name(b), leaf);
}

void operands_are_of_one_kind(RuleContext& c) {
  if (!c.have({"types.activation", "types.weight"})) return;
  const TypesConfig& t = c.hw.types;
  if (is_float(t.activation) == is_float(t.weight)) return;
  c.fail("types.weight",
         fmt::format("types.weight is {} but types.activation is {}; make both integer or both "
                     "floating point",
                     name(t.weight), name(t.activation)));
}

void narrow_weights_go_with_int8(RuleContext& c) {
  if (!c.have({"types.activation", "types.weight"})) return;
  const TypesConfig& t = c.hw.types;
  if (t.weight != DType::int4 || t.activation == DType::int8 || is_float(t.activation)) return;
  c.fail("types.weight", fmt::format("types.weight is int4 but types.activation is {}; use int8",
                                     name(t.activation)));
}

void accumulator_fits_operands(RuleContext& c) {
  if (!c.have({"types.activation", "types.accumulator"})) return;
  const TypesConfig& t = c.hw.types;
  const DType wanted = is_float(t.activation) ? DType::float32 : DType::int32;
  if (t.accumulator == wanted) return;
  c.fail("types.accumulator",
         fmt::format("types.accumulator is {} but types.activation is {}; use {}",
                     name(t.accumulator), name(t.activation), name(wanted)));
}

void dataflows_are_a_set(RuleContext& c) {
  if (!c.have({"array.dataflows"})) return;
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

void slots_divide_buffer(RuleContext& c) {
  for (size_t i = 0; i < kBuffers; ++i) {
    const auto b = static_cast<Buffer>(i);
    if (!c.have({key(b, "kib"), key(b, "slots")})) continue;
    const auto& [kib, slots, width] = c.hw.buffer(b);
    if (kib * 1024 % slots == 0) continue;
    const int64_t step = slots / std::gcd(slots, int64_t{1024});
    const int64_t below = kib / step * step;
    const std::string fits =
        below > 0 ? fmt::format("{} or {}", below, below + step) : fmt::format("{}", below + step);
    c.fail(key(b, "kib"), fmt::format("{} KiB can't be cut into {} = {} equal slots; use {} KiB",
                                      kib, key(b, "slots"), slots, fits));
  }
}

/// Fails when a slot of `b` holds less than `bytes`; `what` says what that is.
void need_slot(RuleContext& c, Buffer b, int64_t bytes, std::string_view what) {
  if (!c.have({key(b, "kib"), key(b, "slots")})) return;
  const BufferConfig& buffer = c.hw.buffer(b);
  if (buffer.slot_bytes() >= bytes) return;
  c.fail(key(b, "kib"),
         fmt::format("one slot of the {} buffer is {} KiB / {} = {} bytes, but {} takes {} bytes; "
                     "use at least {} KiB",
                     name(b), buffer.kib, buffer.slots, buffer.slot_bytes(), what, bytes,
                     ceil_div(bytes * buffer.slots, 1024)));
}

void activation_slot_holds_a_vector(RuleContext& c) {
  if (!c.have({"array.rows", "types.activation"})) return;
  need_slot(c, Buffer::activation, c.hw.array.rows * c.hw.activation_bytes(),
            "one input vector of the array (rows x activation type)");
}

void weight_slot_holds_a_tile(RuleContext& c) {
  if (!c.have({"array.rows", "array.cols", "types.weight"})) return;
  const int64_t bytes =
      c.hw.narrow_weights() ? ceil_div(c.hw.array.cols, 2) : c.hw.array.cols * c.hw.weight_bytes();
  need_slot(c, Buffer::weight, c.hw.array.rows * bytes,
            "one weight tile (rows x cols x weight type)");
}

void parameter_slot_holds_a_row(RuleContext& c) {
  if (!c.have({"array.cols", "types.accumulator"})) return;
  need_slot(c, Buffer::parameter, c.hw.array.cols * c.hw.parameter_bytes(),
            "one set of parameters (cols x bias and requantisation)");
}

void accumulator_slot_holds_a_row(RuleContext& c) {
  if (!c.have({"array.cols", "types.accumulator"})) return;
  need_slot(c, Buffer::accumulator, c.hw.array.cols * c.hw.accumulator_bytes(),
            "one row of sums (cols x accumulator type)");
}

void output_slot_holds_a_row(RuleContext& c) {
  if (!c.have({"array.cols", "types.activation"})) return;
  need_slot(c, Buffer::output, c.hw.array.cols * c.hw.activation_bytes(),
            "one row of outputs (cols x activation type)");
}

/// Groups of weights that no layer could use: two are the fewest that count. A group is a tile.
void groups_of_weights_fit(RuleContext& c) {
  if (!c.have({"types.weight", "types.weight_group"})) return;
  const int64_t group = c.hw.types.weight_group;
  if (!c.hw.narrow_weights() || group == 0) return;
  need_slot(c, Buffer::activation, group * c.hw.activation_bytes(),
            "a group of types.weight_group channels");
  need_slot(c, Buffer::weight, ceil_div(group, 2),
            "a group of types.weight_group weights of 4 bits");
  const int64_t row = c.hw.array.cols * c.hw.accumulator_bytes();
  const BufferConfig& sums = c.hw.buffer(Buffer::accumulator);
  if (c.have({"array.cols", "types.accumulator"}) && sums.slots > 0 && sums.slot_bytes() >= row)
    need_slot(c, Buffer::accumulator, 2 * row,
              "a row of sums for each of two groups (types.weight_group)");
}

/// A nearer memory that is slower is a mistake, and a bigger one would then cost cycles.
void shared_is_not_slower_than_dram(RuleContext& c) {
  if (!c.have({"buffers.shared.kib"}) || c.hw.shared.kib == 0) return;
  const ChannelConfig& near = c.hw.shared.channel;
  const ChannelConfig& far = c.hw.dram;
  const bool banked = c.hw.dram_model == DramModel::banked;
  if (banked && !c.have({"clock_mhz", "dram.preset", "dram.channels"})) return;
  const auto compare_rates = [&](std::string_view leaf, ByteRate a, ByteRate b) {
    const std::string path = fmt::format("buffers.shared.{}", leaf);
    const std::string other = fmt::format("dram.{}", leaf);
    if (!c.have({path}) || (!banked && !c.have({other})) || a.milli >= b.milli) return;
    c.fail(path,
           fmt::format("{} is {} but {} is {}{}; the shared memory must not be slower than DRAM",
                       path, a.value(), banked ? "the peak of the DRAM" : other, b.value(),
                       banked ? " bytes a cycle" : ""));
  };
  compare_rates("read_bytes_per_cycle", near.read, far.read);
  compare_rates("write_bytes_per_cycle", near.write, far.write);
  const bool known = banked || c.have({"dram.latency"});
  if (known && c.have({"buffers.shared.latency"}) && near.latency > far.latency) {
    c.fail("buffers.shared.latency",
           fmt::format("buffers.shared.latency is {} but {} is {}; the shared memory must not be "
                       "slower than DRAM",
                       near.latency, banked ? "the DRAM's" : "dram.latency", far.latency));
  }
}

constexpr std::array<Rule, 12> kRules = {{
    {"operands_are_of_one_kind", "activation and weight types are both integer or both float",
     operands_are_of_one_kind},
    {"narrow_weights_go_with_int8", "int4 weights go with int8 activations",
     narrow_weights_go_with_int8},
    {"accumulator_fits_operands", "integer types go with int32 sums, float types with float32 sums",
     accumulator_fits_operands},
    {"dataflows_are_a_set", "at least one dataflow, none twice", dataflows_are_a_set},
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
     "activation type, a weight slot weight_group / 2 bytes, an accumulator slot two rows",
     groups_of_weights_fit},
    {"shared_is_not_slower_than_dram",
     "a shared memory (kib > 0) has at least DRAM's rates and at most its latency",
     shared_is_not_slower_than_dram},
}};

}  // namespace

bool RuleContext::have(std::initializer_list<std::string_view> paths) const {
  return std::all_of(paths.begin(), paths.end(),
                     [&](std::string_view p) { return read_.find(p) != read_.end(); });
}

void RuleContext::fail(std::string_view path, std::string message) {
  const auto at = read_.find(path);
  check(at != read_.end(), "a rule reports at a field it has not asked for");
  errors_.push_back({at->second, std::move(message)});
}

std::span<const Rule> rules() { return kRules; }

}  // namespace accsim::hw
