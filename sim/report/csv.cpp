#include "sim/report/csv.h"

#include <fmt/format.h>

#include "sim/report/format.h"

namespace accsim::sim {
namespace {

/// What a terminal would take for a command never leaves as such: such a file is looked at, too.
void append_quoted(std::string_view raw, std::string& out) {
  const std::string text = printable(raw, "\r\n\t");
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

struct CsvCell {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(int64_t v) const { return fmt::format("{}", v); }
  /// Sums in a spreadsheet are right to the sixth digit; JSON has what other programs compute with.
  std::string operator()(double v) const { return format_digits(v); }
  /// A spreadsheet would compute what begins like a formula.
  std::string operator()(const std::string& v) const {
    constexpr std::string_view kFormula = "=+-@\t\r";
    const bool computed = !v.empty() && kFormula.find(v.front()) != std::string_view::npos;
    return computed ? "'" + v : v;
  }
  std::string operator()(const Dims& v) const { return to_string(v); }
  std::string operator()(const std::vector<Dims>& v) const {
    std::string out;
    for (const Dims& dims : v) {
      if (!out.empty()) out += ' ';
      out += to_string(dims);
    }
    return out;
  }
};

}  // namespace

void append_csv_cell(const FieldValue& value, std::string& out) {
  append_quoted(std::visit(CsvCell{}, value), out);
}

namespace {

std::string groups_csv(const Report& report) {
  std::string out = "name,layers";
  for (const ReportField& field : report_fields())
    if (field.in_groups()) out += "," + field.key;
  for (const LayerGroup& group : report.groups) {
    out += '\n';
    append_csv_cell(group.name, out);
    out += fmt::format(",{}", group.layers);
    for (const ReportField& field : report_fields()) {
      if (!field.in_groups()) continue;
      out += ',';
      append_csv_cell(field.get(group_row(report, group)), out);
    }
  }
  return out + '\n';
}

}  // namespace

std::string to_csv(const Report& report) {
  if (!report.grouped_by.empty()) return groups_csv(report);
  std::string out;
  const auto end_row = [&out] { out.back() = '\n'; };  // in place of the last comma
  for (const ReportField& field : report_fields()) {
    if (field.in_layers()) out += field.key + ',';
  }
  end_row();
  for (const LayerReport& layer : report.layers) {
    const ReportRow row = layer_row(report, layer);
    for (const ReportField& field : report_fields()) {
      if (!field.in_layers()) continue;
      append_csv_cell(field.get(row), out);
      out += ',';
    }
    end_row();
  }
  return out;
}

}  // namespace accsim::sim
