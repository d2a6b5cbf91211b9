#pragma once
#include <optional>
#include <regex>
#include <string>

#include "hw/config/yaml_tree.h"
#include "sim/sweep/spec_values.h"

namespace accsim::sim {

/// A number that stands within the text of a cell: `{column: op, pattern: "split=(\\d+)"}`. It is
/// what the pattern's first group matches; of a pattern without groups it is 1, or 0 where the cell
/// doesn't match. A pattern is a regular expression of ECMAScript, and is sought anywhere in the
/// cell.
class CellPattern {
 public:
  /// Reads a section with `column`, `pattern` and maybe `otherwise`: the number of a cell that the
  /// pattern isn't in. Reports what is wrong; then there is nothing.
  static std::optional<CellPattern> read(const hw::YamlEntry& e, SpecErrors& errors);

  const std::string& column() const { return column_; }
  /// Errors (without `where`): a cell without the pattern, where nothing is said of such; a group
  /// that is no number; a cell of more than kMostCellText bytes.
  Result<double> number_in(const std::string& cell) const;

 private:
  std::string column_, text_;
  std::regex pattern_;
  std::optional<double> otherwise_;
};

/// Bytes of a cell in which a pattern is sought.
inline constexpr size_t kMostCellText = 1000;

}  // namespace accsim::sim
