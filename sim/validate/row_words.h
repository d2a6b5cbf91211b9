#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/sweep/spec_values.h"
#include "sim/validate/csv_table.h"
#include "sim/validate/row_pattern.h"
#include "sim/validate/table_section.h"
#include "sim/validate/validation.h"

namespace accsim::sim {

/// The column that a key of a section asks for; nothing where there is none, which is reported.
std::optional<size_t> find_column(const TableSection& section, const CsvTable& table,
                                  const TableSection::Source& source, SpecErrors& errors);

/// What rows say in words, not in numbers: name and family, banks such as "31+1", and the memories
/// that operands lie in. All that is wrong goes to `errors`.
class RowWords {
 public:
  RowWords(const TableSection& section, const CsvTable& table, SpecErrors& errors)
      : section_(section), table_(table), errors_(errors) {}

  /// Finds the columns of a key; false: it is one of numbers.
  bool find_source(const TableSection::Source& source);

  /// Name and family of a row.
  void read_texts(const std::vector<CsvCell>& row, ValidationPoint& p);
  /// False where a cell is wrong.
  bool read_banks(const std::vector<CsvCell>& row, ValidationPoint& p) const;
  /// Which operands lie on chip; false where a cell is no memory's word.
  bool read_places(const std::vector<CsvCell>& row, Graph& graph) const;

 private:
  struct FoundText {
    std::string key;
    RowPattern pattern;
    std::vector<std::optional<size_t>> columns;  ///< of its pieces
  };
  /// Banks or a memory.
  struct FoundWord {
    std::string key;
    std::optional<size_t> column;
    std::string word;  ///< of all rows, where it is no column
  };

  const TableSection& section_;
  const CsvTable& table_;
  SpecErrors& errors_;
  std::vector<FoundText> texts_;
  std::vector<FoundWord> words_;
  std::set<std::string> names_;
};

}  // namespace accsim::sim
