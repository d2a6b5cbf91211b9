#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/result.h"

namespace accsim::sim {

/// A text of a table's row: that of a column, or a pattern with names of columns in braces, such as
/// "{network} {layer}, {macs} MACs".
struct RowPattern {
  struct Piece {
    std::string before;  ///< what stands before the column's text
    std::string column;
  };
  std::vector<Piece> pieces;
  std::string rest;  ///< behind the last piece

  /// The text with a cell for each piece; "" where all cells are empty.
  std::string fill(const std::vector<std::string_view>& cells) const;
};

/// Error (invalid, without place): a brace without its other one.
Result<RowPattern> parse_row_pattern(std::string_view text);

}  // namespace accsim::sim
