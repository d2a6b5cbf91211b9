#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/html/page.h"
#include "sim/report/format.h"
#include "sim/validate/validation_text.h"

namespace accsim::sim {
namespace {

constexpr double kSide = 360, kMargin = 48;  // pixels of the diagram and around it

/// The row of a point in its source's table, as a link finds it.
std::string row_id(size_t source, size_t point) { return fmt::format("s{}p{}", source, point); }

/// Predicted over measured, both by logarithm, with the line on which they are equal. A dot leads
/// to the row of its point.
class Diagram {
 public:
  /// Of the points that are rows of tables, or of the others; those of the first one's quantity.
  Diagram(const ValidatedSource& s, size_t source, bool rows) {
    const ValidationPoint* first = nullptr;
    for (size_t i = 0; i < s.predictions.size(); ++i) {
      const ValidationPoint& p = s.source.points[i];
      if (p.is_row() != rows) continue;
      if (first == nullptr) first = &p;
      if (p.quantity != first->quantity) continue;
      add_dot(p.measured, s.predictions[i], {0, 0, 0, 0, p.name, row_id(source, i)});
    }
    if (first != nullptr) unit_ = quantity_table()[static_cast<size_t>(first->quantity)].unit;
  }

  /// "" where there are no dots.
  std::string svg() const {
    if (dots_.empty()) return "";
    std::string out = fmt::format(
        "<svg viewBox=\"0 0 {0:.0f} {0:.0f}\" width=\"{0:.0f}\" role=\"img\" "
        "aria-label=\"predicted over measured\">\n",
        kSide + 2 * kMargin);
    out += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{1:.1f}\" y2=\"{0:.1f}\" "
        "stroke=\"currentColor\" stroke-opacity=\"0.4\"/>\n",
        kMargin, kMargin + kSide);
    out += decades();
    for (const Dot& d : dots_) {
      const double x = x_position(d.measured);
      if (d.low < d.high)
        out += fmt::format(
            "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" "
            "stroke=\"currentColor\" stroke-opacity=\"0.5\"/>\n",
            x, y_position(d.low), y_position(d.high));
      out += fmt::format(
          "<a href=\"#{5}\"><circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"3.5\" "
          "fill=\"currentColor\" fill-opacity=\"0.7\">"
          "<title>{2}: measured {3}, predicted {4}</title></circle></a>\n",
          x, y_position(d.predicted), html_escape(d.name), figure_text(d.measured),
          figure_text(d.predicted), d.row);
    }
    const double end = kMargin + kSide;
    out += svg_text(kMargin, end + 16, "start",
                    figure_text(least_) + " measured, " + std::string(unit_));
    out += svg_text(end, end + 16, "end", figure_text(most_));
    out += svg_text(kMargin, kMargin - 8, "start", figure_text(most_) + " predicted");
    return out + "</svg>\n";
  }

 private:
  struct Dot {
    double measured, predicted, low, high;
    std::string name, row;
  };

  void add_dot(double measured, const Prediction& p, Dot dot) {
    const double low = std::min({measured, p.predicted, p.low});
    const double high = std::max({measured, p.predicted, p.high});
    least_ = dots_.empty() ? low : std::min(least_, low);
    most_ = dots_.empty() ? high : std::max(most_, high);
    dot.measured = measured;
    dot.predicted = p.predicted;
    dot.low = p.low;
    dot.high = p.high;
    dots_.push_back(std::move(dot));
  }

  /// A line for each power of ten of either axis.
  std::string decades() const {
    const double end = kMargin + kSide;
    std::string out;
    for (double ten = std::pow(10, std::ceil(std::log10(least_))); ten <= most_; ten *= 10) {
      out += fmt::format(
          "<path d=\"M{0:.1f} {1:.1f}V{2:.1f}M{1:.1f} {3:.1f}H{2:.1f}\" fill=\"none\" "
          "stroke=\"currentColor\" stroke-opacity=\"0.15\"/>\n",
          x_position(ten), kMargin, end, y_position(ten));
      out += svg_text(x_position(ten), end + 32, "middle", figure_text(ten));
    }
    return out;
  }

  static std::string svg_text(double x, double y, const char* anchor, const std::string& words) {
    return fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"12\" "
        "fill=\"currentColor\">{}</text>\n",
        x, y, anchor, html_escape(words));
  }

  double log_position(double v) const {
    return most_ > least_ ? std::log(v / least_) / std::log(most_ / least_) : 0.5;
  }
  double x_position(double v) const { return kMargin + kSide * log_position(v); }
  double y_position(double v) const { return kMargin + kSide * (1 - log_position(v)); }

  std::vector<Dot> dots_;
  double least_ = 1, most_ = 1;
  std::string_view unit_;
};

std::string table_row(const std::vector<std::string>& cells, const char* element,
                      const std::string& id = "") {
  std::string out = id.empty() ? "<tr>" : "<tr id=\"" + id + "\">";
  for (const std::string& c : cells)
    out += fmt::format("<{0}>{1}</{0}>", element, html_escape(printable(c)));
  return out + "</tr>\n";
}

std::string paragraph(const std::string& text) {
  return text.empty() ? "" : "<p>" + html_escape(printable(text)) + "</p>\n";
}

std::string list_item(const std::string& text) {
  return "<li>" + html_escape(printable(text)) + "</li>\n";
}

std::string group_table(const char* what, const std::vector<GroupSummary>& groups) {
  if (groups.empty()) return "";
  std::string out =
      "<table>\n" +
      table_row({what, "points", "mean absolute error", "mean error", "worst", "of"}, "th");
  for (const GroupSummary& g : groups) out += table_row(group_cells(g), "td");
  return out + "</table>\n";
}

std::string point_rows(const ValidatedSource& s, size_t source, bool interval) {
  std::string out = table_row({"point", "machine", "unit", "measured", "predicted", "error",
                               "bound by", interval ? "lowest" : "", interval ? "highest" : ""},
                              "th");
  for (size_t i = 0; i < s.predictions.size(); ++i) {
    const ValidationPoint& p = s.source.points[i];
    const Prediction& r = s.predictions[i];
    out += table_row({p.name, s.source.machine_name(p),
                      std::string(quantity_table()[static_cast<size_t>(p.quantity)].unit),
                      figure_text(p.measured), figure_text(r.predicted),
                      error_text(r.relative_error(p.measured)), bound_text(r),
                      interval ? figure_text(r.low) : "", interval ? figure_text(r.high) : ""},
                     "td", row_id(source, i));
  }
  return out;
}

std::string source_section(const ValidatedSource& s, size_t source, bool interval) {
  std::string out = "<section>\n<h2>" + html_escape(printable(s.source.source)) + "</h2>\n";
  out += paragraph(fmt::format("{}, {}; {}", name(s.source.evidence),
                               s.source.fitted ? "fitted" : "nothing fitted", s.source.file));
  out += paragraph(s.source.workloads);
  for (const std::string& text : setting_lines(s.source)) out += paragraph(text);
  for (const bool rows : {false, true}) out += Diagram(s, source, rows).svg();
  out += group_table("family", s.families) + group_table("size", s.sizes);
  out += "<table>\n" + point_rows(s, source, interval);
  out += "</table>\n";
  for (const std::string& line : summary_lines(s, interval)) out += paragraph(line);
  out += paragraph(correlation_text(s));
  for (const std::string& line : goal_lines(s)) out += paragraph("Goal " + line);
  out += "<ul>\n";
  for (const ValidationPoint& p : s.source.points)
    if (!p.note.empty()) out += list_item(p.name + ": " + p.note);
  for (const std::string& text : s.source.differences) out += list_item(text);
  out += "</ul>\n";
  return out + "</section>\n";
}

}  // namespace

std::string to_html(const Validation& v, const std::string& version) {
  std::string body = "<main>\n<h1>Predicted and measured</h1>\n";
  if (v.unfitted.points > 0) body += paragraph("Unfitted: " + summary_text(v.unfitted, v.interval));
  if (v.fitted.points > 0) body += paragraph("Fitted: " + summary_text(v.fitted, v.interval));
  for (size_t i = 0; i < v.sources.size(); ++i) body += source_section(v.sources[i], i, v.interval);
  body += paragraph(version) + "</main>\n";
  return plain_page("Predicted and measured", body);
}

}  // namespace accsim::sim
