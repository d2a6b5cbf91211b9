#include "sim/sweep/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/report/csv.h"
#include "sim/report/format.h"
#include "sim/report/table.h"
#include "sim/sweep/front.h"
#include "sim/sweep/sensitivity.h"

namespace accsim::sim {
namespace {

using Row = TableView::Row;

std::string metric_text(Metric m, double v) {
  switch (m) {
    case Metric::cycles:
      return format_count(static_cast<int64_t>(v));
    case Metric::time:
      return format_fixed(v, 2);
    case Metric::energy:
      return format_si(v * 1e-12, "J");
    case Metric::edp:
      return format_si(v * 1e-18, "Js");
    case Metric::area:
      return format_fixed(v, 2);
    case Metric::sram:
      return format_kib(static_cast<int64_t>(v / 1024));
    case Metric::traffic:
      break;
  }
  return format_si(v, "B");
}

std::string metric_head(Metric m) {
  if (m == Metric::time) return "time us";
  if (m == Metric::area) return "area mm2";
  return std::string(metric_info(m).name);
}

/// "edge: dram_gbps 8, act_kib 64".
std::string settings_text(const TableView& view, const Row& row) {
  std::string out;
  for (size_t a = 0; a < view.axes().size(); ++a)
    out += fmt::format("{}{} {}", a > 0 ? ", " : "", view.axes()[a], row.texts[a]);
  return out;
}

/// What a point of the front is the best at: least of an objective, or nearest to the least of all.
std::map<int64_t, std::string> merits_by_point(const TableView& view,
                                               const std::vector<const Row*>& front,
                                               const std::vector<Metric>& metrics) {
  std::map<int64_t, std::string> out;
  if (front.empty() || view.bind_axes() > 0) return out;  // those are no answers to one question
  const auto note = [&](const Row* row, const std::string& what) {
    std::string& text = out[row->point];
    text += (text.empty() ? "" : ", ") + what;
  };
  std::vector<double> least, most;
  for (const Metric m : metrics) {
    const size_t c = view.metric_column(m);
    const auto [low, high] = std::minmax_element(
        front.begin(), front.end(),
        [c](const Row* a, const Row* b) { return a->numbers[c] < b->numbers[c]; });
    least.push_back((*low)->numbers[c]);
    most.push_back((*high)->numbers[c]);
    note(*low, fmt::format("least {}", metric_info(m).name));
  }
  const auto distance = [&](const Row* row) {
    double sum = 0;
    for (size_t i = 0; i < metrics.size(); ++i) {
      const double span = most[i] - least[i];
      const double d =
          span > 0 ? (row->numbers[view.metric_column(metrics[i])] - least[i]) / span : 0;
      sum += d * d;
    }
    return sum;
  };
  if (front.size() > 2)
    note(*std::min_element(front.begin(), front.end(),
                           [&](const Row* a, const Row* b) { return distance(a) < distance(b); }),
         "balanced");
  return out;
}

void append_table(std::string& out, const TextTable& table, size_t width) {
  for (const std::string& line : table.folded_lines(width, false)) out += line + "\n";
}

/// The axes in which some rows differ, and in words what the others are in all.
struct Differing {
  std::vector<size_t> axes;
  std::string common;
};
Differing differing_axes(const TableView& view, const std::vector<const Row*>& rows) {
  Differing out;
  for (size_t a = 0; a < view.axes().size(); ++a) {
    const bool same = std::ranges::all_of(
        rows, [&](const Row* row) { return row->texts[a] == rows.front()->texts[a]; });
    if (!same)
      out.axes.push_back(a);
    else if (!rows.empty())
      out.common += fmt::format("{}{} {}", out.common.empty() ? "" : ", ", view.axes()[a],
                                rows.front()->texts[a]);
  }
  return out;
}

/// Row i of `shown` ones of n: a long list is thinned out evenly, with both ends.
size_t thinned_index(size_t i, size_t shown, size_t n) {
  return shown == n || shown < 2 ? i : i * (n - 1) / (shown - 1);
}

/// What users of a language model notice, a line a point.
void append_speeds(std::string& out, const TableView& view, const ShowOptions& options) {
  std::vector<const Row*> rows;
  for (const Row& row : view.rows())
    if (!row.speeds.empty()) rows.push_back(&row);
  if (rows.empty()) return;
  const auto [axes, common] = differing_axes(view, rows);
  out += wrap_lines("\nLanguage model" + (common.empty() ? "" : ", all with " + common) + "\n",
                    options.width);
  std::vector<TextTable::Column> columns;
  for (const size_t a : axes) columns.push_back({view.axes()[a], "", false, 0, Ink::plain});
  for (const char* head :
       {"first token", "a token", "tokens/s", "energy a token", "weights", "cache"})
    columns.push_back({head, "", false, 0, Ink::plain});
  TextTable table(std::move(columns));
  const size_t n = rows.size(), shown = std::min(n, options.most_rows);
  for (size_t i = 0; i < shown; ++i) {
    const Row& row = *rows[thinned_index(i, shown, n)];
    std::vector<std::string> cells, of_phase(6, "-");
    for (const size_t a : axes) cells.push_back(row.texts[a]);
    for (const TableView::Speed& s : row.speeds) {
      of_phase[4] = format_si(s.weight_bytes, "B");
      if (s.phase == Phase::prefill) {
        of_phase[0] = format_si(s.time_us_per_run() * 1e-6, "s");
        continue;
      }
      of_phase[1] = format_si(s.time_us_per_run() * 1e-6, "s");
      of_phase[2] = format_fixed(s.tokens_per_second(), 1);
      of_phase[3] = format_si(s.energy_per_token() * 1e-12, "J");
      of_phase[5] = format_si(s.cache_bytes, "B");
    }
    cells.insert(cells.end(), of_phase.begin(), of_phase.end());
    table.add({std::move(cells)});
  }
  append_table(out, table, options.width);
  if (shown < n) out += fmt::format("{} more; --json writes all\n", n - shown);
}

/// The axes that differ within the front, one a column; what is common to all is said once.
void append_front(std::string& out, const TableView& view, const std::vector<const Row*>& front,
                  const std::vector<Metric>& metrics, const ShowOptions& options) {
  const auto [differing, common] = differing_axes(view, front);
  std::string names;
  for (const Metric m : metrics)
    names += (names.empty() ? "" : ", ") + std::string(metric_info(m).name);
  std::string head = fmt::format("Pareto front of {}: {} points\n", names, front.size());
  if (!common.empty()) head += "all have " + common + "\n";
  out += wrap_lines(head, options.width);
  std::vector<TextTable::Column> columns;
  columns.push_back({"point", "", true, 0, Ink::plain});
  for (const Metric m : metrics) columns.push_back({metric_head(m), "", false, 0, Ink::plain});
  for (const size_t a : differing) columns.push_back({view.axes()[a], "", false, 0, Ink::plain});
  columns.push_back({"what it is best at", "", true, 1, Ink::plain});
  TextTable table(std::move(columns));
  const auto best = merits_by_point(view, front, metrics);
  const size_t n = front.size(), shown = std::min(n, options.most_rows);
  for (size_t i = 0; i < shown; ++i) {
    const Row& row = *front[thinned_index(i, shown, n)];
    std::vector<std::string> cells = {std::to_string(row.point)};
    for (const Metric m : metrics)
      cells.push_back(metric_text(m, row.numbers[view.metric_column(m)]));
    for (const size_t a : differing) cells.push_back(row.texts[a]);
    const auto at = best.find(row.point);
    cells.push_back(at == best.end() ? "" : at->second);
    table.add({std::move(cells)});
  }
  append_table(out, table, options.width);
  if (shown < n) out += fmt::format("{} more; --csv writes all\n", n - shown);
}

/// The axes' values that occur, in the order of their first points, and each row's among them.
struct Occurring {
  std::vector<std::vector<std::string>> values;  ///< by axis
  std::vector<Levels> levels;                    ///< by row
};

Occurring occurring_values(const TableView& view) {
  Occurring out;
  out.levels.resize(view.rows().size());
  for (size_t a = 0; a < view.axes().size(); ++a) {
    std::map<std::string, size_t> known;
    auto& values = out.values.emplace_back();
    for (size_t i = 0; i < view.rows().size(); ++i) {
      const std::string& text = view.rows()[i].texts[a];
      const auto [at, fresh] = known.emplace(text, values.size());
      if (fresh) values.push_back(text);
      out.levels[i].push_back(at->second);
    }
  }
  return out;
}

/// How far an objective moves over each axis. Products of effects rather than sums: logarithms.
void append_sensitivity(std::string& out, const TableView& view, const StoreMeta& meta,
                        const std::vector<Metric>& metrics, const ShowOptions& options) {
  std::string head =
      "\nSensitivity: how many times an objective changes over an axis's values, the effects of "
      "the other axes taken out, and the value where it is least\n";
  if (meta.strategy == "pareto")
    head += "fitted to the points that the adaptive strategy costed, most of them near the front\n";
  out += wrap_lines(head, options.width, 0);
  std::vector<TextTable::Column> columns = {{"axis", "", true, 0, Ink::plain},
                                            {"values", "", false, 0, Ink::plain}};
  const Occurring found = occurring_values(view);
  std::vector<size_t> steps;
  for (const auto& values : found.values) steps.push_back(values.size());
  std::vector<std::vector<std::string>> cells;
  for (size_t a = 0; a < steps.size(); ++a)
    cells.push_back({view.axes()[a], std::to_string(steps[a])});
  for (const Metric m : metrics) {
    columns.push_back({metric_head(m), "", false, 0, Ink::plain});
    columns.push_back({"least at", "", false, 0, Ink::plain});
    std::vector<double> logs;
    for (const Row& row : view.rows())
      logs.push_back(std::log(std::max(row.numbers[view.metric_column(m)], 1e-30)));
    const auto effects = main_effects(found.levels, logs, steps);
    for (size_t a = 0; a < steps.size(); ++a) {
      const auto [low, high] = std::minmax_element(effects[a].begin(), effects[a].end());
      cells[a].push_back(fmt::format("{:.2f} x", std::exp(*high - *low)));
      cells[a].push_back(found.values[a][static_cast<size_t>(low - effects[a].begin())]);
    }
  }
  TextTable table(std::move(columns));
  for (auto& row : cells) table.add({std::move(row)});
  append_table(out, table, options.width);
}

}  // namespace

std::vector<const Row*> front_rows(const TableView& view, const std::vector<Metric>& metrics) {
  std::vector<std::vector<std::string>> work;  // in the order of their points
  std::map<std::vector<std::string>, Front> fronts;
  std::map<int64_t, const Row*> by_point;
  for (const Row& row : view.rows()) {
    std::vector<double> values;
    for (const Metric m : metrics) values.push_back(row.numbers[view.metric_column(m)]);
    const auto bound = row.texts.begin() + static_cast<ptrdiff_t>(view.bind_axes());
    const auto [front, fresh] = fronts.try_emplace({row.texts.begin(), bound});
    if (fresh) work.push_back(front->first);
    front->second.add(std::move(values), row.point);
    by_point.emplace_hint(by_point.end(), row.point, &row);
  }
  std::vector<const Row*> out;
  for (const auto& sizes : work)
    for (const Front::Entry& e : fronts.at(sizes).sorted_entries())
      out.push_back(by_point.at(e.point));
  return out;
}

std::string show_text(const TableView& view, const StoreMeta& meta, const ShowOptions& options) {
  const auto& metrics = options.pareto.empty() ? meta.objectives : options.pareto;
  std::string out = fmt::format("{} ({}): {} of {} points stored, {} can be costed", meta.spec_file,
                                meta.strategy, format_count(view.stored), format_count(meta.points),
                                format_count(view.feasible));
  if (!options.where.empty())
    out += fmt::format(", {} of them with {}",
                       format_count(static_cast<int64_t>(view.rows().size())), options.where);
  out = wrap_lines(out, options.width) + "\n\n";
  if (view.rows().empty()) return printable(out, "\n") + "no point to show\n";
  append_front(out, view, front_rows(view, metrics), metrics, options);
  append_speeds(out, view, options);
  append_sensitivity(out, view, meta, metrics, options);
  out += wrap_lines(
      options.where.empty() ? "\nBest points\n" : "\nBest points with " + options.where + "\n",
      options.width);
  for (const Metric m : metrics) {
    const size_t c = view.metric_column(m);
    const Row& best =
        *std::min_element(view.rows().begin(), view.rows().end(),
                          [c](const Row& a, const Row& b) { return a.numbers[c] < b.numbers[c]; });
    out += wrap_lines(
        fmt::format("least {:8} {:>12}  point {}: {}\n", metric_info(m).name,
                    metric_text(m, best.numbers[c]), best.point, settings_text(view, best)),
        options.width);
  }
  return printable(out, "\n");
}

std::string show_csv(const TableView& view, const std::vector<Metric>& metrics,
                     const std::vector<size_t>& columns) {
  std::string out = "point";
  const auto add = [&out](const std::string& text) {
    out += ',';
    append_csv_cell(text, out);
  };
  for (const size_t c : columns) add(view.columns()[c]);
  out += '\n';
  for (const Row* row : front_rows(view, metrics)) {
    out += std::to_string(row->point);
    for (const size_t c : columns)
      add(c < view.axes().size() ? row->texts[c] : format_digits(row->numbers[c]));
    out += '\n';
  }
  return out;
}

}  // namespace accsim::sim
