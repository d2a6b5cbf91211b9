#pragma once
#include <optional>
#include <string>
#include <vector>

#include "hw/config/yaml_tree.h"
#include "sim/sweep/spec_values.h"
#include "sim/validate/csv_table.h"
#include "sim/validate/layer_kinds.h"
#include "sim/validate/validation.h"

namespace accsim::sim {

/// A `table` section of a file of validation/: which tables, and what their columns mean.
struct TableSection {
  /// What a key of `columns` is read from: a column, a number, or an expression over columns.
  struct Source {
    std::string key, text;
    hw::TextPosition at;
  };
  /// Rows whose cell in a column is none of these texts are left out.
  struct Filter {
    std::string column;
    std::vector<std::string> texts;
    hw::TextPosition at;
  };

  std::string source_file;         ///< that the section stands in
  std::vector<std::string> files;  ///< tables, as found from the working directory
  const LayerKind* kind = nullptr;
  std::vector<std::string> functions;  ///< of pointwise layers
  std::string family;                  ///< of rows whose columns say none
  std::vector<Source> columns;
  std::vector<Filter> where;
  hw::TextPosition at;
};

/// Reads a section with `file` (or a list), `workload`, `columns`, and maybe `where`, `family` and
/// `function`. docs/validation.md has the keys. Files are relative to that of the section.
TableSection read_table_section(const hw::YamlNode& node, const std::string& source_file,
                                SpecErrors& errors);

/// The points of a table, one a row that `where` takes; each begins as `common`. Everything that is
/// wrong with columns, cells and shapes, with file:line:column of the table.
Result<std::vector<ValidationPoint>> table_points(const TableSection& section,
                                                  const CsvTable& table,
                                                  const ValidationPoint& common);

/// The points of all sections, from the section's own tables or, where it is given, from `other`
/// in place of them. `read` takes the tables that were read. Errors too: a section whose `where`
/// takes no row of its tables; of `other`, where no section takes any.
std::vector<ValidationPoint> points_of_tables(const std::vector<TableSection>& sections,
                                              const std::optional<std::string>& other,
                                              const ValidationPoint& common,
                                              std::vector<std::string>& read, SpecErrors& errors);

}  // namespace accsim::sim
