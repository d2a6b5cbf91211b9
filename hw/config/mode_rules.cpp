#include "hw/config/mode_rules.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "hw/config/mode_list.h"
#include "hw/config/type_modes.h"

namespace accsim::hw {
namespace {

/// Index and mode of those that were read.
template <class Check>
void each_mode(RuleContext& c, std::initializer_list<std::string_view> needs, const Check& check) {
  if (!c.has_read({"types.modes"}) || !c.has_read(needs)) return;
  for (size_t i = 0; i < c.hw.types.modes.size(); ++i) check(i, c.hw.types.modes[i]);
}

/// At the line of a mode; a machine that isn't a file's has but the list.
void fail_at_mode(RuleContext& c, size_t mode, std::string message) {
  const std::string path = mode_path(mode);
  c.fail(c.has_read({path}) ? path : "types.modes", std::move(message));
}

bool same_types(const TypeMode& a, const TypeMode& b) {
  return a.activation == b.activation && a.weight == b.weight;
}

/// Can the array be one of rate x rows rows?
bool has_rows(const HwConfig& hw, const TypeMode& m) {
  const double rows = static_cast<double>(hw.array.rows) * m.rate;
  return rows >= 1 && rows == std::floor(rows);
}

}  // namespace

void modes_are_a_set(RuleContext& c) {
  each_mode(c, {"types.activation", "types.weight"}, [&](size_t i, const TypeMode& m) {
    const TypesConfig& t = c.hw.types;
    if (same_types(m, type_mode(c.hw, kOwnTypes)))
      return fail_at_mode(
          c, i,
          fmt::format("{} is {}, the machine's own types (types.activation, "
                      "types.weight), whose rate is 1 and energy energy.mac_pj; remove it",
                      mode_path(i), to_string(m)));
    const auto first =
        std::ranges::find_if(t.modes, [&](const auto& o) { return same_types(m, o); });
    if (const auto at = static_cast<size_t>(first - t.modes.begin()); at < i)
      fail_at_mode(c, i,
                   fmt::format("{} is {} again, as {}; remove one", mode_path(i), to_string(m),
                               mode_path(at)));
  });
}

void modes_have_types_that_go_together(RuleContext& c) {
  each_mode(c, {}, [&](size_t i, const TypeMode& m) {
    if (is_float(m.activation)) return;
    if (is_float(m.weight))
      fail_at_mode(
          c, i,
          fmt::format("{} multiplies {} by {}; activations that are integers go with weights "
                      "that are",
                      mode_path(i), name(m.activation), name(m.weight)));
    else if (is_packed(m.weight) && m.activation != DType::int8)
      fail_at_mode(c, i,
                   fmt::format("{} multiplies {} by int4; use int8, or a floating-point type",
                               mode_path(i), name(m.activation)));
  });
}

void modes_have_products_of_activations(RuleContext& c) {
  each_mode(c, {"types.activation"}, [&](size_t i, const TypeMode& m) {
    const auto& modes = c.hw.types.modes;
    if (m.activation == c.hw.types.activation) return;
    const bool found = std::ranges::any_of(modes, [&](const TypeMode& o) {
      return o.activation == m.activation && o.weight == m.activation;
    });
    const auto first = std::ranges::find(modes, m.activation, &TypeMode::activation);
    if (found || first != modes.begin() + static_cast<std::ptrdiff_t>(i)) return;
    fail_at_mode(
        c, i,
        fmt::format("{} has {} activations, whose products with one another (attention) need "
                    "a mode {} x {}; add it",
                    mode_path(i), name(m.activation), name(m.activation), name(m.activation)));
  });
}

void modes_have_whole_rows(RuleContext& c) {
  each_mode(c, {"array.rows"}, [&](size_t i, const TypeMode& m) {
    if (has_rows(c.hw, m)) return;
    const double rows = static_cast<double>(c.hw.array.rows);
    fail_at_mode(c, i,
                 fmt::format("{}.rate is {}: {} rows are {} of that rate, no whole number; use {}",
                             mode_path(i), m.rate, c.hw.array.rows, rows * m.rate,
                             std::max(1.0, std::round(rows * m.rate)) / rows));
  });
}

void modes_hold_what_is_multiplied(RuleContext& c) {
  each_mode(c, {"array.dataflows"}, [&](size_t i, const TypeMode& m) {
    const auto& flows = c.hw.array.dataflows;
    if (m.rate == 1 || flows.empty() ||
        std::ranges::any_of(flows, [](Dataflow d) { return d != Dataflow::output_stationary; }))
      return;
    fail_at_mode(c, i,
                 fmt::format("{}.rate is {}, which output_stationary can't have; use 1, or add "
                             "weight_stationary to array.dataflows",
                             mode_path(i), m.rate));
  });
}

void modes_fit_the_slots(RuleContext& c) {
  each_mode(c, {"array.rows", "array.cols"}, [&](size_t i, const TypeMode& m) {
    if (!has_rows(c.hw, m)) return;
    const HwConfig view = machine_of_mode(c.hw, static_cast<int>(i));
    std::vector<SlotNeed> needs = group_needs(view);
    for (SlotNeed& need : needs) need.what = "its group";
    needs.insert(needs.end(), {vector_need(view), tile_need(view), parameter_need(view),
                               sums_need(view), output_need(view)});
    for (const SlotNeed& need : needs) {
      const std::string section = fmt::format("buffers.{}", name(need.buffer));
      if (!c.has_read({section + ".kib", section + ".slots"})) continue;
      const BufferConfig& b = c.hw.buffer(need.buffer);
      if (b.slot_bytes() >= need.bytes) continue;
      fail_at_mode(
          c, i,
          fmt::format("{} is {}, for which one slot of the {} buffer ({} bytes) is too small: {} "
                      "takes {} bytes; use at least {} KiB in {}.kib, or remove the mode",
                      mode_path(i), to_string(m), name(need.buffer), b.slot_bytes(), need.what,
                      need.bytes, ceil_div(need.bytes * b.slots, 1024), section));
    }
  });
}

}  // namespace accsim::hw
