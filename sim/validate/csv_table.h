#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hw/config/yaml_tree.h"
#include "sim/base/result.h"

namespace accsim::sim {

/// A cell of a table, and where it begins.
struct CsvCell {
  std::string text;
  hw::TextPosition at;
};

/// A table of comma-separated values: names of columns, and rows that have a cell for each.
struct CsvTable {
  std::string file;
  std::vector<CsvCell> head;
  std::vector<std::vector<CsvCell>> rows;

  /// The column of this name; nothing when there is none.
  std::optional<size_t> column(std::string_view name) const;
  std::vector<std::string> columns() const;
};

/// Bytes that a table may have.
inline constexpr size_t kCsvBytesMax = size_t{1} << 26;

/// Reads text as RFC 4180 has it, with two differences: lines that begin with # are comments, and a
/// quoted cell ends on its line. Blank lines are left out. The first other line has the columns'
/// names. Everything that is wrong is reported at once with file:line:column: quotes that aren't
/// closed or with text behind them, rows with another number of cells, columns without a name or
/// with that of another one, no head line, no rows.
Result<CsvTable> parse_csv(std::string_view text, const std::string& file);
/// The same for a file. Errors too: io, and invalid when it is larger than kCsvBytesMax.
Result<CsvTable> load_csv(const std::string& path);

}  // namespace accsim::sim
