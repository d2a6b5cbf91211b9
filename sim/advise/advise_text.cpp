#include "sim/advise/advise_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/base/json_text.h"
#include "sim/report/page.h"
#include "sim/report/table.h"

namespace accsim::sim {
namespace {

using Json = nlohmann::ordered_json;

std::string with_sign(int64_t v) { return (v > 0 ? "+" : "") + format_count(v); }
/// "+1.2" of a change in percent; "0" for none.
std::string percent_change(double to, double from) {
  if (from <= 0) return "-";
  const double change = 100 * (to / from - 1);
  if (change == 0) return "0";
  return (change > 0 ? "+" : "") + format_fixed(change, 1);
}

TextTable advice_table(const Advice& a) {
  TextTable out({{"field", "", true},
                 {"now", "", false, 1},
                 {"10 %", "to", false, 3},
                 {"cycles", "%", false, 2},
                 {"twofold", "to"},
                 {"cycles", ""},
                 {"cycles", "%"},
                 {"energy", "%", false, 1},
                 {"area", "%", false, 1}});
  for (const FieldAdvice& f : a.fields) {
    if (!f.changes_cycles()) continue;
    const FieldMove& tenth = f.field_move(Move::tenth);
    const FieldMove& twofold = f.field_move(Move::twofold);
    const auto cell = [&](const FieldMove& m, const std::string& text) {
      return m.refused.empty() ? text : std::string("-");
    };
    const auto share = [&](const FieldMove& m) {
      return percent_change(static_cast<double>(m.cost.cycles), static_cast<double>(a.base.cycles));
    };
    out.add({{f.field->path, f.text, cell(tenth, tenth.text), cell(tenth, share(tenth)),
              cell(twofold, twofold.text), cell(twofold, with_sign(-twofold.cycles_saved)),
              cell(twofold, share(twofold)),
              cell(twofold, percent_change(twofold.cost.energy_pj, a.base.energy_pj)),
              cell(twofold, percent_change(twofold.cost.area_mm2, a.base.area_mm2))}});
  }
  return out;
}

/// What the rules had to say of the fields in the table, and why others couldn't be moved.
std::vector<std::string> rule_notes(const Advice& a) {
  std::vector<std::string> out;
  for (const FieldAdvice& f : a.fields)
    for (const FieldMove& m : f.moves) {
      if (!m.illegal.empty() && m.cycles_saved != 0)
        out.push_back(
            fmt::format("{} {} instead of {:g}: {}", f.field->path, m.text, m.wanted, m.illegal));
      else if (!m.refused.empty() && m.wanted == 0 && &m == &f.moves.front())
        out.push_back(fmt::format("{} isn't tried: {}", f.field->path, m.refused));
      else if (!m.refused.empty() && m.wanted != 0)
        out.push_back(fmt::format("{} can't be {:g}: {}", f.field->path, m.wanted, m.refused));
    }
  return out;
}

/// A value as its field takes it: whole where it is.
Json value_json(const hw::Field& field, double value) {
  if (std::holds_alternative<hw::Member<int64_t>>(field.target)) return std::llround(value);
  return value;
}

Json move_json(const hw::Field& field, const FieldMove& m) {
  if (!m.refused.empty()) return {{"wanted", m.wanted}, {"refused", m.refused}};
  return {{"wanted", m.wanted},          {"value", value_json(field, m.value)},
          {"cycles", m.cost.cycles},     {"cycles_saved", m.cycles_saved},
          {"time_us", m.cost.time_us},   {"energy_pj", m.cost.energy_pj},
          {"area_mm2", m.cost.area_mm2}, {"illegal", m.illegal.empty() ? Json() : Json(m.illegal)}};
}

}  // namespace

std::string to_text(const Advice& a, const TextOptions& options) {
  Page out(options.width, options.colour);
  out.add_item("model", a.model_file);
  const bool named = a.hw.file.empty() || a.hw.file == a.hw.name;
  out.add_item("machine", named ? a.hw.name : fmt::format("{} ({})", a.hw.name, a.hw.file));
  out.add_item(
      "", fmt::format("{} cycles, {}; {}, area {} mm2", format_count(a.base.cycles),
                      format_si(a.base.time_us * 1e-6, "s"),
                      format_si(a.base.energy_pj * 1e-12, "J"), format_fixed(a.base.area_mm2, 1)));
  out.add_line("");
  if (a.base.cycles == 0) out.add_line("The network takes no cycles: nothing makes it faster.");
  if (std::ranges::any_of(a.fields, &FieldAdvice::changes_cycles))
    out.add_lines(advice_table(a).lines(out.width(), out.colour()));
  out.add_line("");
  out.add_lines(
      wrap_words("Each field is moved alone, and the network mapped and costed anew: 10 % and "
                 "twice as much, of latencies and energies 10 % less and half.",
                 out.width()));
  std::string none;
  const hw::Field* clock = nullptr;
  bool energies = false;
  for (const FieldAdvice& f : a.fields) {
    if (f.changes_cycles() || !f.is_tried()) continue;
    if (f.field->growth == hw::Growth::clock)
      clock = f.field;
    else if (f.field->growth == hw::Growth::price)
      energies = true;
    else
      none += f.field->path + ", ";
  }
  none += energies ? "energies" : "";
  if (none.ends_with(", ")) none.resize(none.size() - 2);
  out.add_line("");
  if (!none.empty()) out.add_item("no cycles", none);
  if (clock != nullptr) out.add_item(clock->path, "changes no cycles; the time is cycles over it");
  out.add_items("rules", rule_notes(a));
  return out.take_text();
}

std::string to_json(const Advice& a) {
  Json fields = Json::array();
  for (const FieldAdvice& f : a.fields)
    fields.push_back({{"field", f.field->path},
                      {"unit", f.field->unit},
                      {"value", value_json(*f.field, f.value)},
                      {"better", f.smaller ? "smaller" : "larger"},
                      {"tenth", move_json(*f.field, f.field_move(Move::tenth))},
                      {"twofold", move_json(*f.field, f.field_move(Move::twofold))}});
  const Json out = {{"schema", "accsim.advise/1"},
                    {"model", a.model_file},
                    {"machine", {{"name", a.hw.name}, {"file", a.hw.file}}},
                    {"base",
                     {{"cycles", a.base.cycles},
                      {"time_us", a.base.time_us},
                      {"energy_pj", a.base.energy_pj},
                      {"area_mm2", a.base.area_mm2}}},
                    {"fields", fields}};
  return json_text(out, 1) + "\n";
}

}  // namespace accsim::sim
