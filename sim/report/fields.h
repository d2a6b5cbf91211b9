#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/base/variant.h"
#include "sim/report/report.h"

namespace accsim::sim {

/// What a field says of a row. monostate: nothing to say (a rate without time, a ratio without a
/// denominator); null in JSON, empty in CSV, "-" in the text table. A double here is finite.
using FieldValue = Variant<std::monostate, int64_t, double, std::string, Dims, std::vector<Dims>>;

/// A layer, or a group of them or the whole network when `layer` is null. Refers to the report it
/// was made from.
struct ReportRow {
  const Report& report;
  const LayerReport* layer;
  const Costs& costs;
  Bound bound;
};
/// The row of one layer, which must be of this report.
ReportRow layer_row(const Report& report, const LayerReport& layer);
/// The row of a group of layers: that of what is summed, as the whole network's.
ReportRow group_row(const Report& report, const LayerGroup& group);
/// The row of the whole network.
ReportRow totals_row(const Report& report);

/// The rows that have a field: layers, the totals, or both.
enum class FieldScope : uint8_t { layer, totals, both };

/// How the text table prints a field's number.
enum class TextStyle : uint8_t {
  words,  ///< names and shapes, left-aligned
  count,  ///< 1,234,567
  si,     ///< 1.23M
  fixed,  ///< 1,234.5
};

/// A field's column in the text table.
struct TextColumn {
  std::string header, unit;
  int priority = 0;  ///< 0: always shown; the higher, the earlier a narrow terminal loses it
  TextStyle style = TextStyle::words;
  double scale = 1;  ///< from the field's unit to the column's
  int decimals = 0;  ///< of TextStyle::fixed
};

/// One number or word of the report. JSON, CSV and the text table are all driven by this list.
struct ReportField {
  std::string key;
  std::string unit;  ///< empty for words and plain ratios
  std::string description;
  FieldScope scope = FieldScope::both;
  std::function<FieldValue(const ReportRow&)> get;
  std::vector<TextColumn> text = {};  ///< at most one; none: only in JSON and CSV

  bool in_layers() const { return scope != FieldScope::totals; }
  bool in_totals() const { return scope != FieldScope::layer; }
  bool in_groups() const { return scope == FieldScope::both; }
};

/// Every field, in the order of the files' keys and columns.
const std::vector<ReportField>& report_fields();

}  // namespace accsim::sim
