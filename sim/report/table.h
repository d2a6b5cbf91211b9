#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/fields.h"
#include "sim/report/format.h"

namespace accsim::sim {

/// Columns of words and numbers, padded to the widest; every line at most as wide as asked.
class TextTable {
 public:
  struct Column {
    std::string header, unit;  ///< the unit has a header line of its own when any column has one
    bool left = false;         ///< words; numbers are right-aligned
    int priority = 0;          ///< 0 always stays; of the others the highest is dropped first
    Ink ink = Ink::plain;      ///< of the column's cells
  };
  struct Row {
    std::vector<std::string> cells;       ///< one a column
    bool total = false;                   ///< ruled off and bold
    std::vector<std::string> notes = {};  ///< below the row, indented and wrapped
  };

  /// Whatever its texts are, what is printed holds no control character but those of inks.
  explicit TextTable(std::vector<Column> columns);
  void add(Row row);

  /// Lines without line feeds. When room is short, columns are dropped by their priority and the
  /// first column's names shortened (shorten_names). `room` is at least the width of the columns of
  /// priority 0, the first at its narrowest.
  std::vector<std::string> lines(size_t room, bool colour) const;
  /// The same, but nothing is dropped: columns that don't fit beside the others stand in further
  /// tables below, each beginning with the first column. No column is wider than the room.
  std::vector<std::string> folded_lines(size_t room, bool colour) const;

 private:
  std::vector<size_t> widths() const;
  std::vector<size_t> choose_columns(size_t room, std::vector<size_t>& widths) const;
  std::vector<std::string> print_columns(const std::vector<size_t>& chosen,
                                         const std::vector<size_t>& width, size_t room,
                                         bool colour) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

/// The layers with a bar each for their cycles and, last, the totals. The bars are of ASCII without
/// `unicode`.
TextTable layer_table(const Report& report, bool all_layers, bool unicode);
/// The groups of a report that is rolled up, each with the number of its layers, likewise.
TextTable group_table(const Report& report, bool unicode);
/// Layers that layer_table() leaves out unless asked for all: views and folded nodes that cost no
/// cycles.
int64_t hidden_layers(const Report& report);

}  // namespace accsim::sim
