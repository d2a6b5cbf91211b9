#pragma once
#include <optional>
#include <string>

#include "hw/config/yaml_tree.h"
#include "sim/base/result.h"
#include "sim/sweep/spec_values.h"
#include "sim/validate/csv_table.h"

namespace accsim::sim {

/// A `join` of a table: further columns, from a second table (docs/validation.md, "Tables").
struct TableJoin {
  std::string file;    ///< the second table, as found from the working directory
  std::string column;  ///< of the table
  std::string begins;  ///< column of the second table: a cell above begins with its text
  hw::TextPosition at;
};

/// Reads a section with `file`, `column` and `begins`; nothing where it isn't one, which is
/// reported.
std::optional<TableJoin> read_join(const hw::YamlEntry& e, const std::string& source_file,
                                   SpecErrors& errors);

/// `table` with the columns of `more`, each row with the cells of the row whose text in `begins`
/// its own cell begins with: the longest one. Errors, with file:line:column: a column that lacks,
/// or that both have; a text of `begins` that two rows have or that is empty; a row that none
/// belongs to.
Result<CsvTable> join_tables(const CsvTable& table, const TableJoin& join, const CsvTable& more);

}  // namespace accsim::sim
