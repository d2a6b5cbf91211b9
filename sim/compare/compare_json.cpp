#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/base/json_text.h"
#include "sim/compare/compare_text.h"
#include "sim/compare/remains.h"
#include "sim/html/page.h"

namespace accsim::sim {
namespace {

using Json = nlohmann::ordered_json;

Json finite_json(double v) { return std::isfinite(v) ? Json(v) : Json(); }

Json side_json(const RunSide& s) {
  Json machine = Json::object();
  for (const auto& [path, value] : s.machine) machine[path] = value;
  return {{"model", {{"name", s.model_name}, {"file", s.model_file}}},
          {"hw", {{"name", s.machine_name}, {"file", s.machine_file}, {"fields", machine}}},
          {"objective", s.objective},
          {"clock_mhz", s.clock_mhz},
          {"rows", s.rows},
          {"cols", s.cols},
          {"macs", s.macs},
          {"cycles", s.cycles},
          {"nanoseconds", finite_json(s.nanoseconds(s.cycles))},
          {"energy_pj", finite_json(s.energy_pj)},
          {"area_mm2", finite_json(s.area_mm2)}};
}

Json waterfall_json(const Comparison& c) {
  Json out = Json::array();
  for (size_t i = 0; i < kCauses; ++i)
    out.push_back({{"cause", cause_table()[i].key},
                   {"a", c.cycles_a[i]},
                   {"b", c.cycles_b[i]},
                   {"difference", c.difference[i]},
                   {"nanoseconds",
                    finite_json(c.b.nanoseconds(c.cycles_b[i]) - c.a.nanoseconds(c.cycles_a[i]))}});
  return out;
}

Json remains_json(const Remains& r) {
  Json units = Json::array();
  for (const UnitShare& u : r.units)
    units.push_back({{"unit", unit_key(u.unit)},
                     {"a", u.cycles_a},
                     {"b", u.cycles_b},
                     {"share_a", u.share_a},
                     {"share_b", u.share_b},
                     {"least_b", u.least_b}});
  return {{"array_ratio", r.array_ratio},
          {"speedup", finite_json(r.speedup)},
          {"time_speedup", finite_json(r.time_speedup)},
          {"ideal_cycles", r.ideal ? finite_json(*r.ideal) : Json()},
          {"units", units}};
}

Json layer_json(const Comparison& c, const LayerDifference& l) {
  const SideLayer* const a = l.a ? &c.a.layers[*l.a] : nullptr;
  const SideLayer* const b = l.b ? &c.b.layers[*l.b] : nullptr;
  const SideLayer& named = a != nullptr ? *a : *b;
  Json out = {{"name", named.name}, {"op_type", named.op_type}, {"match", name(l.match)}};
  if (l.match == Match::order) out["name_b"] = b->name;
  out["a"] = a != nullptr ? Json(a->cycles) : Json();
  out["b"] = b != nullptr ? Json(b->cycles) : Json();
  out["difference"] = l.difference;
  Json causes = Json::object();
  for (size_t i = 0; i < kCauses; ++i)
    if (l.causes[i] != 0) causes[std::string(cause_table()[i].key)] = l.causes[i];
  out["causes"] = std::move(causes);
  return out;
}

Json comparison_json(const Comparison& c) {
  Json changed = Json::array(), layers = Json::array();
  for (const ChangedField& f : c.changed)
    changed.push_back({{"field", f.path}, {"a", f.a}, {"b", f.b}});
  for (const LayerDifference& l : c.layers) layers.push_back(layer_json(c, l));
  const Remains r = find_remains(c);
  return {{"a", side_json(c.a)},
          {"b", side_json(c.b)},
          {"difference", c.b.cycles - c.a.cycles},
          {"changed", changed},
          {"waterfall", waterfall_json(c)},
          {"remains", remains_json(r)},
          {"sentences", remains_sentences(c, r)},
          {"layers", layers}};
}

}  // namespace

std::string to_json(const std::vector<Comparison>& comparisons) {
  Json causes = Json::array(), list = Json::array();
  for (const CauseInfo& cause : cause_table())
    causes.push_back({{"key", cause.key},
                      {"label", cause.label},
                      {"unit", unit_key(cause.unit)},
                      {"definition", cause.definition}});
  for (const Comparison& c : comparisons) list.push_back(comparison_json(c));
  const Json out = {{"schema", "accsim.compare/1"}, {"causes", causes}, {"comparisons", list}};
  return json_text(out, 1) + "\n";
}

std::string to_html(const std::vector<Comparison>& comparisons, const std::string& command,
                    const std::string& version) {
  std::string plain;
  for (const Comparison& c : comparisons) plain += to_text(c, {.width = 100}) + "\n";
  const Comparison& first = comparisons.front();
  return html_page({.kind = "compare",
                    .title = "Compare: " + first.a.machine_name + ", " + first.b.machine_name,
                    .data = R"({"kind":"compare","version":)" + json_text(version) +
                            ",\"command\":" + json_text(command) +
                            ",\"compare\":" + to_json(comparisons) + "}",
                    .fallback = "<pre>" + html_escape(plain) + "</pre>"});
}

}  // namespace accsim::sim
