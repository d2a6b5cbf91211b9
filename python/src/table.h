#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/report/fields.h"

namespace accsim::python {

/// What a column holds, by row: a number, words, a shape or several shapes.
enum class ColumnType : uint8_t { int64, float64, text, shape, shapes };

/// Values of one type, laid out as Arrow has them, so that they are handed out without copies.
struct Column {
  std::string name, unit, description;
  ColumnType type = ColumnType::float64;
  int64_t rows = 0, nulls = 0;
  std::vector<uint8_t> valid;        ///< a bit a row
  std::vector<int64_t> integers;     ///< by row; of shapes: all dims, one shape behind the other
  std::vector<double> reals;         ///< by row; NaN where there is no value
  std::vector<int32_t> ends = {0};   ///< text, shape, shapes: where each row's values end
  std::vector<int32_t> inner = {0};  ///< shapes: where each shape's dims end
  std::string bytes;                 ///< text, UTF-8

  void add(const sim::FieldValue& value);
  sim::FieldValue at(int64_t row) const;
};

/// Columns of equal length.
struct TableData {
  std::vector<Column> columns;
  int64_t rows = 0;

  const Column* find(std::string_view name) const;
};
/// A table that is shared by whoever reads its memory.
using TablePtr = std::shared_ptr<const TableData>;

/// The layers of a report: the columns are the report's fields of layers, their types the same for
/// every report.
TablePtr layers_table(const sim::Report& report);

}  // namespace accsim::python
