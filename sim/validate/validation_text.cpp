#include "sim/validate/validation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "sim/report/page.h"
#include "sim/report/table.h"

namespace accsim::sim {
namespace {

constexpr size_t kEffectsNamed = 3;   // widest of a point's
constexpr double kCounted = 100'000;  // figures from here on have no decimals

class TextWriter {
 public:
  explicit TextWriter(const TextOptions& options) : page_(options.width, options.colour) {}

  void add_item(std::string_view label, const std::string& text) { page_.add_item(label, text); }

  void add_source(const ValidatedSource& s, bool interval) {
    add_item("source", s.source.source);
    add_item("", fmt::format("{}{}; {}", name(s.source.evidence), s.source.fitted ? ", fitted" : "",
                             s.source.file));
    for (const std::string& text : setting_lines(s.source)) add_item("", text);
    page_.add_line("");
    page_.add_lines(point_table(s, interval).lines(page_.width(), page_.colour()));
    page_.add_line("");
    add_groups("family", s.families);
    add_groups("size", s.sizes);
    const char* label = "summary";
    for (const std::string& line : summary_lines(s, interval)) {
      add_item(label, line);
      label = "";
    }
    if (const std::string text = correlation_text(s); !text.empty()) add_item("", text);
    for (const std::string& line : goal_lines(s)) add_item("goal", line);
    page_.add_items("differences", s.source.differences);
    page_.add_line("");
  }

  std::string take_text() { return page_.take_text(); }

 private:
  void add_groups(const char* what, const std::vector<GroupSummary>& groups) {
    if (groups.empty()) return;
    TextTable table({{what, "", true},
                     {"points", ""},
                     {"mean absolute", ""},
                     {"mean", ""},
                     {"worst", ""},
                     {"of", "", true, 1}});
    for (const GroupSummary& g : groups) table.add({group_cells(g)});
    page_.add_lines(table.lines(page_.width(), page_.colour()));
    page_.add_line("");
  }

  static TextTable point_table(const ValidatedSource& s, bool interval) {
    TextTable out({{"point", "", true},
                   {"", "", true, 1},
                   {"measured", ""},
                   {"predicted", ""},
                   {"error", ""},
                   {interval ? "lowest" : "", "", false, 2},
                   {interval ? "highest" : "", "", false, 2},
                   {"bound by", "", true, 1},
                   {"machine", "", true, 3}});
    for (size_t i = 0; i < s.predictions.size(); ++i) {
      const ValidationPoint& p = s.source.points[i];
      const Prediction& r = s.predictions[i];
      TextTable::Row row{
          {p.name, std::string(quantity_table()[static_cast<size_t>(p.quantity)].unit),
           figure_text(p.measured), figure_text(r.predicted),
           error_text(r.relative_error(p.measured)), interval ? figure_text(r.low) : "",
           interval ? figure_text(r.high) : "", bound_text(r), s.source.machine_name(p)}};
      if (!p.note.empty()) row.notes.push_back(p.note);
      out.add(std::move(row));
    }
    return out;
  }

  Page page_;
};

/// Text in a cell of a Markdown table.
std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string relative_to(const std::string& file, const std::string& root) {
  const auto path = std::filesystem::path(file).lexically_relative(root);
  return path.empty() ? file : path.string();
}

void markdown_groups(const char* what, const std::vector<GroupSummary>& groups, std::string& out) {
  if (groups.empty()) return;
  out += fmt::format("| {} | points | mean absolute error | mean error | worst | of |\n", what);
  out += "|---|---:|---:|---:|---:|---|\n";
  for (const GroupSummary& g : groups) {
    for (const std::string& cell : group_cells(g)) out += fmt::format("| {} ", markdown_cell(cell));
    out += "|\n";
  }
  out += '\n';
}

/// Points that are no rows of tables.
void markdown_points(const ValidatedSource& s, bool interval, std::string& out) {
  if (std::ranges::all_of(s.source.points, &ValidationPoint::is_row)) return;
  out += "| point | unit | measured | predicted | error | interval | decided by |\n";
  out += "|---|---|---:|---:|---:|---:|---|\n";
  for (size_t i = 0; i < s.predictions.size(); ++i) {
    const ValidationPoint& p = s.source.points[i];
    if (p.is_row()) continue;
    const Prediction& r = s.predictions[i];
    std::string effects;
    for (size_t e = 0; e < std::min(kEffectsNamed, r.effects.size()); ++e)
      effects += fmt::format("{}`{}`", e == 0 ? "" : ", ", r.effects[e].field);
    out +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", markdown_cell(p.name),
                    quantity_table()[static_cast<size_t>(p.quantity)].unit, figure_text(p.measured),
                    figure_text(r.predicted), error_text(r.relative_error(p.measured)),
                    interval ? fmt::format("{} .. {}", error_text(r.low / p.measured - 1),
                                           error_text(r.high / p.measured - 1))
                             : "",
                    effects);
  }
  out += '\n';
}

/// A source's line in the table of sources: of its rows of tables, or of its other points.
std::string markdown_line(const ValidatedSource& s, bool rows) {
  const ErrorSummary& sum = rows ? s.rows : s.figures;
  const bool correlated = rows == s.source.points.front().is_row();
  const auto number = [&](const std::optional<double>& x) {
    return x && correlated ? fmt::format("{:.3f}", *x) : std::string("-");
  };
  return fmt::format("| {} | {} | {}{} | {} % | {} ({}) | {} | {} |\n",
                     markdown_cell(s.source.source), name(s.source.evidence), sum.points,
                     rows ? " rows" : "", format_fixed(100 * sum.mean_absolute, 1),
                     error_text(sum.worst), markdown_cell(sum.worst_point), number(s.rank),
                     number(s.r2));
}

void markdown_source(const ValidatedSource& s, const std::string& root, bool interval,
                     std::string& out) {
  out += fmt::format("### {}\n\n", printable(s.source.source));
  out += fmt::format("{}; {}; [{}](../{}).", name(s.source.evidence),
                     s.source.fitted ? "fitted" : "nothing fitted",
                     std::filesystem::path(s.source.file).filename().string(),
                     relative_to(s.source.file, root));
  for (const auto& [file, machine] : s.source.machines)
    out += fmt::format(" [{}](../{})", machine.hw.name, relative_to(file, root));
  out += "\n\n";
  if (!s.source.workloads.empty()) out += printable(s.source.workloads) + "\n\n";
  for (const std::string& text : setting_lines(s.source)) out += fmt::format("- {}\n", text);
  if (!setting_lines(s.source).empty()) out += '\n';
  markdown_points(s, interval, out);
  markdown_groups("family", s.families, out);
  markdown_groups("size", s.sizes, out);
  for (const std::string& line : summary_lines(s, interval)) out += line + ".\n";
  if (const std::string text = correlation_text(s); !text.empty()) out += text + ".\n";
  for (const std::string& line : goal_lines(s)) out += fmt::format("Goal {}.\n", line);
  out += '\n';
  for (const ValidationPoint& p : s.source.points)
    if (!p.note.empty()) out += fmt::format("- {}: {}\n", markdown_cell(p.name), printable(p.note));
  for (const std::string& text : s.source.differences)
    out += fmt::format("- {}\n", printable(text));
  out += '\n';
}

/// A file as its source names it, where it lies below the source's folder.
std::string beside(const std::string& source, const std::string& file) {
  const auto folder = std::filesystem::path(source).parent_path();
  const std::string path = std::filesystem::path(file).lexically_relative(folder).string();
  return path.empty() || path.starts_with("..") ? file : path;
}

}  // namespace

std::string error_text(double error) {
  const double percent = 100 * error;
  return (percent > 0 ? "+" : "") + format_fixed(percent, 1) + " %";
}

std::string figure_text(double value) {
  if (std::abs(value) >= kCounted) return format_count(std::llround(value));
  const int digits = value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::abs(value))));
  return format_fixed(value, std::clamp(3 - digits, 0, 6));
}

std::string bound_text(const Prediction& p) {
  return p.bound == Bound::none ? "" : std::string(name(p.bound));
}

std::vector<std::string> group_cells(const GroupSummary& g) {
  const ErrorSummary& s = g.summary;
  return {g.name,
          format_count(s.points),
          format_fixed(100 * s.mean_absolute, 1) + " %",
          error_text(s.mean),
          error_text(s.worst),
          s.worst_point};
}

std::vector<std::string> setting_lines(const ValidationSource& s) {
  std::vector<std::string> out;
  for (const SourceSetting& set : s.set)
    out.push_back(fmt::format("{} is {}: {}", set.field, set.value, printable(set.source)));
  for (const std::string& table : s.tables) {
    const auto rows = std::ranges::count(s.points, table, &ValidationPoint::table_file);
    out.push_back(fmt::format("{} rows of {}", rows, printable(beside(s.file, table))));
  }
  return out;
}

std::vector<std::string> goal_lines(const ValidatedSource& s) {
  struct Reached {
    double goal;
    int64_t points, reached;
  };
  std::vector<Reached> aims;
  for (size_t i = 0; i < s.predictions.size(); ++i) {
    const ValidationPoint& p = s.source.points[i];
    if (!p.goal) continue;
    auto at = std::ranges::find(aims, *p.goal, &Reached::goal);
    if (at == aims.end()) at = aims.insert(aims.end(), {*p.goal, 0, 0});
    ++at->points;
    at->reached += std::abs(s.predictions[i].relative_error(p.measured)) <= *p.goal ? 1 : 0;
  }
  std::vector<std::string> out;
  for (const Reached& a : aims)
    out.push_back(fmt::format("within {} %: reached by {} of {} points",
                              format_fixed(100 * a.goal, 0), a.reached, a.points));
  if (s.source.goal_r2)
    out.push_back(fmt::format("R2 of {:.2f}: {}", *s.source.goal_r2,
                              s.r2 && *s.r2 >= *s.source.goal_r2 ? "reached" : "not reached"));
  return out;
}

std::vector<std::string> table_lines(const Validation& v) {
  std::vector<std::string> out;
  for (const ValidatedSource& s : v.sources)
    if (s.rows.points > 0)
      out.push_back(fmt::format("{}: {}", std::filesystem::path(s.source.file).filename().string(),
                                summary_text(s.rows, v.interval, "row")));
  return out;
}

std::string summary_text(const ErrorSummary& s, bool interval, std::string_view what) {
  std::string out = fmt::format("{} {}{}, mean absolute error {} %, worst {} ({})", s.points, what,
                                s.points == 1 ? "" : "s", format_fixed(100 * s.mean_absolute, 1),
                                error_text(s.worst), printable(s.worst_point));
  if (interval)
    out += fmt::format("; {} of the measured figures lie{} in the interval", s.inside,
                       s.inside == 1 ? "s" : "");
  return out;
}

std::vector<std::string> summary_lines(const ValidatedSource& s, bool interval) {
  if (s.figures.points == 0 || s.rows.points == 0) return {summary_text(s.summary, interval)};
  return {summary_text(s.figures, interval), summary_text(s.rows, interval, "row")};
}

std::string correlation_text(const ValidatedSource& s) {
  std::string out;
  if (s.rank) out += fmt::format("Rank correlation {:.3f}", *s.rank);
  if (s.r2) out += fmt::format(", R2 {:.3f}", *s.r2);
  return out;
}

std::string to_text(const Validation& v, const TextOptions& options) {
  TextWriter writer(options);
  for (const ValidatedSource& s : v.sources) writer.add_source(s, v.interval);
  if (v.unfitted.points > 0) writer.add_item("unfitted", summary_text(v.unfitted, v.interval));
  if (v.fitted.points > 0) writer.add_item("fitted", summary_text(v.fitted, v.interval));
  if (v.sources.size() > 1)
    for (const std::string& line : table_lines(v)) writer.add_item("table", line);
  return writer.take_text();
}

std::string to_markdown(const Validation& v, const std::string& root) {
  std::string out = "| source | evidence | points | mean absolute error | worst | rank | R2 |\n";
  out += "|---|---|---:|---:|---:|---:|---:|\n";
  for (const ValidatedSource& s : v.sources)
    for (const bool rows : {false, true})
      if ((rows ? s.rows : s.figures).points > 0) out += markdown_line(s, rows);
  out += '\n';
  if (v.unfitted.points > 0)
    out += fmt::format("Unfitted: {}.\n", summary_text(v.unfitted, v.interval));
  out += v.fitted.points > 0 ? fmt::format("Fitted: {}.\n", summary_text(v.fitted, v.interval))
                             : std::string("Fitted: none.\n");
  for (const std::string& line : table_lines(v)) out += fmt::format("Table of {}.\n", line);
  out += '\n';
  for (const ValidatedSource& s : v.sources) markdown_source(s, root, v.interval, out);
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace accsim::sim
