#include "sim/validate/table_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hw/config/values.h"
#include "sim/base/parse_number.h"
#include "sim/elaborate/elaborate.h"
#include "sim/sweep/expression.h"
#include "sim/validate/near_whole.h"
#include "sim/validate/row_words.h"

namespace accsim::sim {
namespace {

/// A section's columns, found in a table.
class RowReader {
 public:
  RowReader(const TableSection& section, const CsvTable& table)
      : section_(section),
        table_(table),
        errors_(table.file),
        words_(section, table, errors_),
        fields_(section.fields, table, section.source_file, errors_) {
    for (const TableSection::Source& source : section.columns) find_source(source);
    for (const TableSection::Filter& filter : section.where)
      filters_.push_back(find_column(section, table, {"where", filter.column, filter.at}, errors_));
  }

  Result<std::vector<ValidationPoint>> read_points(const ValidationPoint& common) {
    std::vector<ValidationPoint> out;
    if (!errors_.empty()) return errors_.take();
    for (const auto& row : table_.rows)
      if (is_taken(row)) read_point(row, common, out);
    if (!errors_.empty()) return errors_.take();
    return out;
  }

 private:
  using Row = std::vector<CsvCell>;
  /// What a key is read from.
  struct Found {
    std::string key;
    std::optional<size_t> column;
    std::optional<Expression> expression;  ///< where it is no column
    const CellPattern* pattern = nullptr;  ///< of a number within the column's text
  };

  static bool is_plain_name(std::string_view text) {
    return std::ranges::all_of(text, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
  }

  void find_source(const TableSection::Source& source) {
    if (words_.find_source(source)) return;
    Found out{source.key, table_.column(source.text), {}};
    const bool number = parse_number<double>(source.text).has_value();
    if (source.pattern) out.pattern = &*source.pattern;
    if (!out.column && (out.pattern != nullptr || (!number && is_plain_name(source.text)))) {
      find_column(section_, table_, source, errors_);  // which says what is missing
    } else if (!out.column) {
      auto parsed = Expression::parse(
          source.text, [&](std::string_view name) { return table_.column(name); },
          table_.columns());
      if (parsed)
        out.expression = std::move(*parsed);
      else
        errors_.fail(
            table_.head.front().at,
            fmt::format("{}, which is asked for by {} in {}", parsed.errors().front().message,
                        source.key, hw::where_text(section_.source_file, source.at)));
    }
    sources_.push_back(std::move(out));
  }

  bool is_taken(const Row& row) const {
    for (size_t f = 0; f < filters_.size(); ++f) {
      const std::string& cell = row[*filters_[f]].text;
      const auto number = parse_number<double>(cell);
      const auto same = [&](const std::string& text) {
        return text == cell || (number && parse_number<double>(text) == number);
      };
      if (std::ranges::none_of(section_.where[f].texts, same)) return false;
    }
    return true;
  }

  std::optional<double> number_in(const CsvCell& cell, const std::string& what) {
    const auto v = parse_number<double>(cell.text);
    if (v && std::isfinite(*v)) return v;
    errors_.fail(cell.at, cell.text.empty() ? fmt::format("{} is empty; it must be a number", what)
                                            : fmt::format("{} is {}; it must be a number", what,
                                                          hw::quoted_text(cell.text)));
    return std::nullopt;
  }

  /// The index of a cell's word among those that a size has.
  std::optional<double> word_in(const CsvCell& cell, const LayerParameter& parameter) {
    const auto at = std::ranges::find(parameter.words, cell.text);
    if (at != parameter.words.end()) return static_cast<double>(at - parameter.words.begin());
    errors_.fail(cell.at,
                 fmt::format("{} is {}; valid: {}", parameter.name, hw::quoted_text(cell.text),
                             fmt::join(parameter.words, ", ")));
    return std::nullopt;
  }

  /// The number that a key's pattern finds in a cell.
  std::optional<double> part_of(const CsvCell& cell, const Found& found) {
    const Result<double> number = found.pattern->number_in(cell.text);
    if (number) return *number;
    errors_.fail(cell.at, found.key + ": " + number.errors().front().message);
    return std::nullopt;
  }

  /// The value of a key in a row, and the cell that errors are said of.
  std::optional<double> value_of(const Found& found, const Row& row, hw::TextPosition& at) {
    if (found.column) {
      at = row[*found.column].at;
      if (found.pattern != nullptr) return part_of(row[*found.column], found);
      const LayerParameter* size = section_.kind->parameter(found.key);
      if (size != nullptr && !size->words.empty()) return word_in(row[*found.column], *size);
      return number_in(row[*found.column], found.key);
    }
    numbers_.resize(table_.head.size());
    bool good = true;
    for (const size_t c : found.expression->variables()) {
      at = row[c].at;
      const auto v = number_in(row[c], table_.head[c].text);
      good &= v.has_value();
      numbers_[c] = v.value_or(0);
    }
    if (!good) return std::nullopt;
    return found.expression->value(numbers_);
  }

  static std::pair<int64_t, int64_t> range_of(const LayerParameter& size) {
    const auto words = static_cast<int64_t>(size.words.size());
    return {size.least, words > 0 ? words - 1 : kMostLayerSize};
  }

  /// Sizes and figure of a row; false where a cell is wrong, which is reported.
  bool read_numbers(const Row& row, ValidationPoint& p, LayerSizes& sizes) {
    bool good = true;
    for (const Found& found : sources_) {
      hw::TextPosition at = row.front().at;
      const auto value = value_of(found, row, at);
      good &= value.has_value();
      if (!value) continue;
      if (const auto quantity = quantity_of_key(found.key)) {
        p.quantity = static_cast<Quantity>(*quantity);
        p.measured = *value;
        if (*value > 0 && std::isfinite(*value)) continue;
        errors_.fail(at, fmt::format("{} is {}; a measured figure is above 0", found.key, *value));
        good = false;
        continue;
      }
      const std::optional<size_t> bank = bank_of_key(found.key);
      const bool kept = found.key == kWeightsKept;
      const auto [least, most] = kept   ? std::pair<int64_t, int64_t>{0, 1}
                                 : bank ? std::pair<int64_t, int64_t>{1, kMostLayerSize}
                                        : range_of(*section_.kind->parameter(found.key));
      const double size = near_whole(*value);
      const bool whole = size == std::round(size) && size >= static_cast<double>(least) &&
                         size <= static_cast<double>(most);
      if (whole && bank) {
        p.banks.resize(kBankKeys.size());
        p.banks[*bank] = static_cast<int64_t>(size);
      } else if (whole && kept)
        p.rereads = size == 0;
      else if (whole)
        sizes.values[found.key] = static_cast<int64_t>(size);
      else
        errors_.fail(at, fmt::format("{} is {}; it must be a whole number of {}..{}", found.key,
                                     *value, least, most));
      good &= whole;
    }
    return good;
  }

  void read_point(const Row& row, const ValidationPoint& common,
                  std::vector<ValidationPoint>& out) {
    ValidationPoint p = common;
    p.table_file = table_.file;
    p.table_line = row.front().at.line;
    words_.read_texts(row, p);
    LayerSizes sizes;
    sizes.functions = section_.functions;
    const bool good_banks = words_.read_banks(row, p);
    const bool good_fields = fields_.read(row, p.set, errors_);
    if (!read_numbers(row, p, sizes) || !good_banks || !good_fields) return;
    fill_sizes(*section_.kind, sizes);
    if (section_.kind->parameter("batch") != nullptr) p.frames = sizes["batch"];
    auto graph = graph_of(sizes);
    if (!graph) return fail_row(row, p.name, graph.errors());
    if (!words_.read_places(row, *graph)) return;
    if (section_.kind->cost != nullptr) {
      const auto cost = section_.kind->cost(sizes);
      if (!cost) return fail_row(row, p.name, cost.errors());
      p.row_cost = *cost;
    }
    if (section_.kind->unit != nullptr) p.unit = section_.kind->unit(sizes);
    if (section_.kind->cycles != nullptr) {
      p.kind = section_.kind;
      p.sizes = std::move(sizes);
    }
    p.workload = section_.kind->name;
    p.graph = std::move(*graph);
    out.push_back(std::move(p));
  }

  void fail_row(const Row& row, const std::string& name, const Errors& errors) {
    for (const Error& e : errors)
      errors_.fail(row.front().at,
                   fmt::format("{}: there is no such {}: {}", name, section_.kind->name, e.text()));
  }

  Result<Graph> graph_of(const LayerSizes& sizes) const {
    const auto model = section_.kind->model(sizes);
    if (!model) return model.errors();
    return elaborate(*model, {});
  }

  const TableSection& section_;
  const CsvTable& table_;
  SpecErrors errors_;
  RowWords words_;
  RowFields fields_;
  std::vector<Found> sources_;
  std::vector<std::optional<size_t>> filters_;  ///< columns, by TableSection::where
  std::vector<double> numbers_;                 ///< of a row, by column, for expressions
};

}  // namespace

Result<std::vector<ValidationPoint>> table_points(const TableSection& section,
                                                  const CsvTable& table,
                                                  const ValidationPoint& common) {
  ValidationPoint first = common;
  if (!section.machine.empty()) first.machine_file = section.machine;
  return RowReader(section, table).read_points(first);
}

}  // namespace accsim::sim
