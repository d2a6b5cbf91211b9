#pragma once
#include <vector>

#include "sim/validate/csv_table.h"
#include "sim/validate/table_section.h"
#include "sim/validate/validation.h"

namespace accsim::sim {

/// The points of a table, one a row that `where` takes; each begins as `common`. Everything that is
/// wrong with columns, cells and shapes, with file:line:column of the table.
Result<std::vector<ValidationPoint>> table_points(const TableSection& section,
                                                  const CsvTable& table,
                                                  const ValidationPoint& common);

}  // namespace accsim::sim
