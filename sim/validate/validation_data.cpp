#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/base/json_text.h"
#include "sim/report/csv.h"
#include "sim/validate/validation_text.h"

namespace accsim::sim {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json json_or_null(const std::optional<T>& v) {
  return v ? Json(*v) : Json();
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

/// `interval`: were the ends of the interval looked for? Without it they say nothing.
Json summary_json(const ErrorSummary& s, bool interval) {
  if (s.points == 0) return nullptr;
  return {{"points", s.points},           {"mean_absolute_error", s.mean_absolute},
          {"mean_error", s.mean},         {"worst_error", s.worst},
          {"worst_point", s.worst_point}, {"inside_interval", interval ? Json(s.inside) : Json()}};
}

Json groups_json(const std::vector<GroupSummary>& groups, bool interval) {
  Json out = Json::array();
  for (const GroupSummary& g : groups)
    out.push_back({{"name", g.name}, {"summary", summary_json(g.summary, interval)}});
  return out;
}

Json settings_json(const std::vector<SourceSetting>& settings) {
  Json out = Json::array();
  for (const SourceSetting& s : settings)
    out.push_back({{"field", s.field}, {"value", s.value}, {"source", s.source}});
  return out;
}

/// Of a search; null without.
Json best_json(const Prediction& r) {
  if (!r.best) return nullptr;
  return {{"cycles", r.best->cycles},
          {"program", r.best->program},
          {"candidates", r.best->candidates},
          {"timed", r.best->timed},
          {"credit_cycles", json_or_null(r.best->credit_cycles)},
          {"barrier_cycles", json_or_null(r.best->barrier_cycles)}};
}

Json point_json(const ValidatedSource& s, size_t i, bool interval) {
  const ValidationPoint& p = s.source.points[i];
  const Prediction& r = s.predictions[i];
  const QuantityInfo& q = quantity_table()[static_cast<size_t>(p.quantity)];
  Json effects = Json::array();
  for (const FieldEffect& e : r.effects)
    effects.push_back({{"field", e.field}, {"low", e.low}, {"high", e.high}});
  return {{"name", p.name},
          {"family", text_or_null(p.family)},
          {"table", text_or_null(p.table_file)},
          {"line", p.is_row() ? Json(p.table_line) : Json()},
          {"workload", p.workload},
          {"macs", r.macs},
          {"bound", text_or_null(bound_text(r))},
          {"machine", text_or_null(s.source.machine_name(p))},
          {"quantity", q.key},
          {"unit", q.unit},
          {"measured", p.measured},
          {"predicted", r.predicted},
          {"error", r.relative_error(p.measured)},
          {"low", interval ? Json(r.low) : Json()},
          {"high", interval ? Json(r.high) : Json()},
          {"inside", interval ? Json(r.low <= p.measured && p.measured <= r.high) : Json()},
          {"goal", json_or_null(p.goal)},
          {"note", p.note},
          {"best", best_json(r)},
          {"search_error", text_or_null(r.search_error)},
          {"effects", effects}};
}

}  // namespace

std::string to_json(const Validation& v) {
  Json sources = Json::array();
  for (const ValidatedSource& s : v.sources) {
    Json points = Json::array();
    for (size_t i = 0; i < s.predictions.size(); ++i)
      points.push_back(point_json(s, i, v.interval));
    sources.push_back({{"file", s.source.file},
                       {"source", s.source.source},
                       {"evidence", name(s.source.evidence)},
                       {"fitted", s.source.fitted},
                       {"summary", summary_json(s.summary, v.interval)},
                       {"figures", summary_json(s.figures, v.interval)},
                       {"rows", summary_json(s.rows, v.interval)},
                       {"families", groups_json(s.families, v.interval)},
                       {"sizes", groups_json(s.sizes, v.interval)},
                       {"rank_correlation", json_or_null(s.rank)},
                       {"r2", json_or_null(s.r2)},
                       {"goal_r2", json_or_null(s.source.goal_r2)},
                       {"workloads", s.source.workloads},
                       {"differences", s.source.differences},
                       {"set", settings_json(s.source.set)},
                       {"tables", s.source.tables},
                       {"points", points}});
  }
  const Json out = {{"schema", kValidationSchema},
                    {"interval", v.interval},
                    {"summary",
                     {{"unfitted", summary_json(v.unfitted, v.interval)},
                      {"fitted", summary_json(v.fitted, v.interval)}}},
                    {"sources", sources}};
  return json_text(out, 1) + "\n";
}

std::string to_csv(const Validation& v) {
  std::string out =
      "file,evidence,fitted,point,workload,machine,quantity,measured,predicted,error,low,high,"
      "family,bound\n";
  for (const ValidatedSource& s : v.sources)
    for (size_t i = 0; i < s.predictions.size(); ++i) {
      const ValidationPoint& p = s.source.points[i];
      const Prediction& r = s.predictions[i];
      const QuantityInfo& q = quantity_table()[static_cast<size_t>(p.quantity)];
      const std::vector<FieldValue> cells = {s.source.file,
                                             std::string(name(s.source.evidence)),
                                             std::string(s.source.fitted ? "yes" : "no"),
                                             p.name,
                                             p.workload,
                                             s.source.machine_name(p),
                                             std::string(q.key),
                                             p.measured,
                                             r.predicted,
                                             r.relative_error(p.measured),
                                             v.interval ? FieldValue(r.low) : FieldValue(),
                                             v.interval ? FieldValue(r.high) : FieldValue(),
                                             p.family,
                                             bound_text(r)};
      for (size_t c = 0; c < cells.size(); ++c) {
        if (c > 0) out += ',';
        append_csv_cell(cells[c], out);
      }
      out += '\n';
    }
  return out;
}

}  // namespace accsim::sim
