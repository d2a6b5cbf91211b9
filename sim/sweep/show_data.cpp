#include "sim/sweep/show_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "hw/config/load.h"
#include "hw/config/values.h"
#include "sim/base/json_text.h"
#include "sim/base/parse_number.h"
#include "sim/html/page.h"
#include "sim/map/slack_word.h"
#include "sim/report/format.h"

namespace accsim::sim {
namespace {

using Json = nlohmann::ordered_json;

std::string unit_of(const std::string& column) {
  for (size_t m = 0; m < kMetrics; ++m)
    if (metric_info(static_cast<Metric>(m)).column == column)
      return std::string(metric_info(static_cast<Metric>(m)).unit);
  if (column.ends_with("_bytes")) return "B";
  return column == "macs" ? "MACs" : "";
}

/// Of the numbers in a page, which shows three digits. Axes keep all: machines are made of them.
constexpr int kPageDigits = 7;

/// A cell: an axis's word, a number as short as it can be, or nothing. `page`: of few digits.
std::string cell_json(const TableView& view, const TableView::Row& row, size_t c, bool page) {
  const double number = row.numbers[c];
  if (c < view.axes().size() && std::isnan(number)) return json_text(row.texts[c]);
  if (!std::isfinite(number)) return "null";
  std::string exact = fmt::format("{}", number);
  if (!page || c < view.axes().size() || exact.size() <= kPageDigits + 1) return exact;
  std::string rounded = fmt::format("{:.{}g}", number, kPageDigits);
  return rounded.size() < exact.size() ? rounded : exact;
}

/// Whether all points have the same in a column.
bool is_constant_column(const TableView& view, size_t c) {
  const auto same = [&](const TableView::Row& a, const TableView::Row& b) {
    const bool none = std::isnan(a.numbers[c]) && std::isnan(b.numbers[c]);
    return (none || a.numbers[c] == b.numbers[c]) &&
           (c >= view.axes().size() || a.texts[c] == b.texts[c]);
  };
  return std::all_of(view.rows().begin(), view.rows().end(),
                     [&](const TableView::Row& row) { return same(row, view.rows().front()); });
}

/// The arrays of "points", the numbers of the points first. In a page a column of one value is
/// {"all": value}, and numbers that count up by one are {"from": first}.
void append_points(std::string& out, const TableView& view, const std::vector<size_t>& columns,
                   bool page) {
  const auto& rows = view.rows();
  const bool counted =
      page && !rows.empty() &&
      rows.back().point - rows.front().point == static_cast<int64_t>(rows.size()) - 1;
  out += "{\n    \"point\": ";
  if (counted) {
    out += fmt::format("{{\"from\": {}, \"count\": {}}}", rows.front().point, rows.size());
  } else {
    out += '[';
    for (size_t i = 0; i < rows.size(); ++i)
      out += fmt::format("{}{}", i > 0 ? "," : "", rows[i].point);
    out += ']';
  }
  for (const size_t c : columns) {
    out += ",\n    " + json_text(view.columns()[c]) + ": ";
    if (page && !rows.empty() && is_constant_column(view, c)) {
      out += "{\"all\": " + cell_json(view, rows.front(), c, page) + "}";
      continue;
    }
    out += '[';
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i > 0) out += ',';
      out += cell_json(view, rows[i], c, page);
    }
    out += ']';
  }
  out += "\n  }";
}

Json sweep_json(const TableView& view, const StoreMeta& meta, const ShowOptions& options) {
  return {{"spec", meta.spec_file}, {"strategy", meta.strategy}, {"version", meta.version},
          {"points", meta.points},  {"stored", view.stored},     {"feasible", view.feasible},
          {"where", options.where}};
}

/// What the phases of a language model take, a row a point and phase.
Json speeds_json(const TableView& view) {
  Json out = Json::array();
  for (const TableView::Row& row : view.rows())
    for (const TableView::Speed& s : row.speeds)
      out.push_back({{"point", row.point},
                     {"phase", kPhases[static_cast<size_t>(s.phase)]},
                     {"runs", s.runs},
                     {"tokens", s.tokens},
                     {"time_us", s.time_us},
                     {"time_us_per_run", s.time_us_per_run()},
                     {"tokens_per_second", s.tokens_per_second()},
                     {"energy_pj_per_token", s.energy_per_token()},
                     {"weight_bytes", s.weight_bytes},
                     {"cache_bytes", s.cache_bytes}});
  return out;
}

std::string points_json(const TableView& view, const StoreMeta& meta, const ShowOptions& options,
                        const std::vector<size_t>& columns, bool page) {
  const auto& metrics = options.pareto.empty() ? meta.objectives : options.pareto;
  Json objectives = Json::array(), described = Json::array(), front = Json::array();
  for (const Metric m : metrics) objectives.push_back(metric_info(m).column);
  for (const size_t c : columns)
    described.push_back({{"name", view.columns()[c]},
                         {"unit", unit_of(view.columns()[c])},
                         {"axis", c < view.axes().size()}});
  for (const TableView::Row* row : front_rows(view, metrics)) front.push_back(row->point);
  std::string out = "{\n  \"schema\": \"accsim.sweep/1\",\n  \"sweep\": ";
  out +=
      json_text(sweep_json(view, meta, options)) + ",\n  \"objectives\": " + json_text(objectives);
  out += ",\n  \"axes\": " + json_text(view.axes()) + ",\n  \"columns\": " + json_text(described);
  out += ",\n  \"front\": " + json_text(front) + ",\n  \"points\": ";
  append_points(out, view, columns, page);
  if (const Json speeds = speeds_json(view); !speeds.empty())
    out += ",\n  \"phases\": " + json_text(speeds);
  return out + "\n}\n";
}

/// Rows of the table for readers without scripts; those with scripts load them too.
constexpr size_t kFallbackRows = 500;

/// The table for readers without scripts: the front.
std::string fallback_html(const TableView& view, const std::vector<Metric>& metrics) {
  std::string out =
      "<p>The Pareto front; the charts need a browser that runs scripts.</p>\n<table>\n<tr>";
  for (const std::string& c : view.columns()) out += "<th>" + html_escape(c) + "</th>";
  out += "</tr>\n";
  const auto front = front_rows(view, metrics);
  for (size_t i = 0; i < std::min(front.size(), kFallbackRows); ++i) {
    const TableView::Row* row = front[i];
    out += "<tr>";
    for (size_t c = 0; c < view.columns().size(); ++c)
      out += "<td>" +
             html_escape(c < view.axes().size() ? row->texts[c] : format_digits(row->numbers[c])) +
             "</td>";
    out += "</tr>\n";
  }
  out += "</table>";
  if (front.size() > kFallbackRows)
    out += fmt::format("\n<p>{} of {} points are shown; accsim sweep show has all.</p>",
                       kFallbackRows, front.size());
  return out;
}

}  // namespace

Result<std::vector<size_t>> parse_columns(const std::string& text, const TableView& view) {
  std::vector<size_t> out;
  if (text.empty()) {
    out.resize(view.columns().size());
    std::iota(out.begin(), out.end(), size_t{0});
    return out;
  }
  for (const std::string_view name : split_text(text, ',')) {
    const auto found = std::find(view.columns().begin(), view.columns().end(), name);
    const auto column = static_cast<size_t>(found - view.columns().begin());
    if (found == view.columns().end())
      return Error{Errc::usage,
                   fmt::format("'{}' is no column; the columns are {}", name,
                               fmt::join(view.columns(), ", ")),
                   "--columns"};
    if (std::find(out.begin(), out.end(), column) != out.end())
      return Error{Errc::usage, fmt::format("{} is named twice", name), "--columns"};
    out.push_back(column);
  }
  return out;
}

std::string show_json(const TableView& view, const StoreMeta& meta, const ShowOptions& options,
                      const std::vector<size_t>& columns) {
  return points_json(view, meta, options, columns, false);
}

std::string space_json(const SweepSpec& spec) {
  Json axes = Json::object(), models = Json::array();
  for (const Axis& axis : spec.axes) {
    Json steps = Json::array();
    for (const AxisStep& step : axis.steps) {
      hw::HwConfig machine = spec.base;
      Json sets = Json::object();
      for (size_t f = 0; f < axis.fields.size(); ++f) {
        set_field(*axis.fields[f], step.fields[f], machine);
        sets[axis.fields[f]->path] = hw::print_value(*axis.fields[f], machine);
      }
      steps.push_back({{"label", step.label}, {"value", step.value}, {"sets", sets}});
    }
    axes[axis.name] = {{"words", axis.words}, {"steps", steps}};
  }
  for (const SweepModel& m : spec.models)
    models.push_back({{"file", m.file},
                      {"weight", m.weight},
                      {"bindings", m.options.elaborate.bindings},
                      {"allow_unsupported", m.options.elaborate.allow_unsupported}});
  const MapOptions& mapping = spec.mapping;
  const bool as_default = mapping.slack == kDefaultSlack || mapping.effort == MapEffort::rule ||
                          mapping.objective != Objective::cycles;
  const Json out = {{"base", hw::print_hw(spec.base)},
                    {"axes", axes},
                    {"models", models},
                    {"effort", mapping.effort == MapEffort::rule ? "rule" : "search"},
                    {"objective", name(mapping.objective)},
                    {"slack", as_default ? "" : slack_text(mapping.slack)}};
  return json_text(out);
}

std::string show_html(const TableView& view, const StoreMeta& meta, const ShowOptions& options,
                      const std::string& space) {
  std::vector<size_t> all(view.columns().size());
  std::iota(all.begin(), all.end(), size_t{0});
  std::string data = "{\"kind\":\"sweep\",\"store\":" + points_json(view, meta, options, all, true);
  if (!space.empty()) data += ",\"space\":" + space;
  const auto& metrics = options.pareto.empty() ? meta.objectives : options.pareto;
  return html_page({.kind = "sweep",
                    .title = "Sweep of " + meta.spec_file,
                    .data = data + "}",
                    .fallback = fallback_html(view, metrics)});
}

}  // namespace accsim::sim
