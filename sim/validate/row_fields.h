#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/sweep/expression.h"
#include "sim/sweep/spec_values.h"
#include "sim/validate/csv_table.h"
#include "sim/validate/validation.h"

namespace accsim::sim {

/// A field of the machine that a table's rows set: a key of `columns` that is the field's path.
struct RowFieldSource {
  const hw::Field* field = nullptr;
  std::string text;  ///< a column, a number, or an expression over columns
  /// What each word of the column stands for; none: the column has numbers.
  std::vector<std::pair<std::string, std::string>> words;
  hw::TextPosition at;
};

/// Is a key of `columns` the path of a field that decides costs?
bool is_row_field(std::string_view key);

/// The source of an entry of `columns`: a text, or {column: NAME, words: {WORD: VALUE, ...}}.
/// Nothing where the key is no field, or where its value is wrong, which is reported.
std::optional<RowFieldSource> read_row_field(const hw::YamlEntry& e, SpecErrors& errors);

/// These fields, found in a table.
class RowFields {
 public:
  /// Reports columns that aren't there, at the table's head. `place` says where the keys stand.
  RowFields(const std::vector<RowFieldSource>& sources, const CsvTable& table,
            const std::string& source_file, SpecErrors& errors);

  /// Adds what a row sets to `out`. False where a cell is wrong, which is reported.
  bool read(const std::vector<CsvCell>& row, std::vector<RowSetting>& out, SpecErrors& errors);

 private:
  struct Found {
    const RowFieldSource* source;
    std::optional<size_t> column;
    std::optional<Expression> expression;  ///< where it is no column
  };

  std::optional<std::string> value_of(const Found& found, const std::vector<CsvCell>& row,
                                      hw::TextPosition& at, SpecErrors& errors);

  const CsvTable& table_;
  std::vector<Found> found_;
  std::vector<double> numbers_;  ///< of a row, by column, for expressions
};

/// Sets what a row says of the machine. Errors: rules that the machine then breaks.
Status apply_row(const ValidationPoint& point, hw::HwConfig& hw);

}  // namespace accsim::sim
