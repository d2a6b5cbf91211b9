#include "sim/validate/table_join.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "hw/config/values.h"

namespace accsim::sim {
namespace {

/// A column of a table; reports where there is none.
std::optional<size_t> find_column(const CsvTable& table, const std::string& name,
                                  SpecErrors& errors) {
  const auto column = table.column(name);
  if (!column)
    errors.fail(table.head.front().at,
                fmt::format("no column {}, which a join asks for", hw::quoted_text(name)));
  return column;
}

using RowsByText = std::map<std::string, const std::vector<CsvCell>*, std::less<>>;

/// The rows of the second table by what cells may begin with.
RowsByText rows_by_text(const CsvTable& more, size_t column, SpecErrors& errors) {
  RowsByText out;
  for (const auto& row : more.rows) {
    const CsvCell& cell = row[column];
    if (cell.text.empty() || !out.emplace(cell.text, &row).second)
      errors.fail(cell.at, cell.text.empty()
                               ? "it is empty; a join needs a text"
                               : fmt::format("a second row has {}", hw::quoted_text(cell.text)));
  }
  return out;
}

/// The row of the longest text that `cell` begins with; null: of none.
const std::vector<CsvCell>* row_of(const RowsByText& rows, std::string_view cell) {
  for (size_t length = cell.size(); length > 0; --length) {
    const auto at = rows.find(cell.substr(0, length));
    if (at != rows.end()) return at->second;
  }
  return nullptr;
}

}  // namespace

std::optional<TableJoin> read_join(const hw::YamlEntry& e, const std::string& source_file,
                                   SpecErrors& errors) {
  TableJoin out;
  out.at = e.at;
  read_section(e.value, e.at, "a join", {"file", "column", "begins"}, errors,
               [&](const hw::YamlEntry& key) {
                 if (key.value.kind != hw::YamlNode::Kind::scalar)
                   return errors.fail(key.value.at, key.key + " is a text");
                 if (key.key == "file") out.file = path_beside(source_file, key.value.text);
                 if (key.key == "column") out.column = key.value.text;
                 if (key.key == "begins") out.begins = key.value.text;
               });
  if (!out.file.empty() && !out.column.empty() && !out.begins.empty()) return out;
  errors.fail(e.at, "a join needs file, column and begins");
  return std::nullopt;
}

Result<CsvTable> join_tables(const CsvTable& table, const TableJoin& join, const CsvTable& more) {
  SpecErrors here(table.file), there(more.file);
  const auto column = find_column(table, join.column, here);
  const auto begins = find_column(more, join.begins, there);
  for (const CsvCell& head : more.head)
    if (table.column(head.text))
      there.fail(head.at,
                 fmt::format("column {} is in {}, too", hw::quoted_text(head.text), table.file));
  CsvTable out = table;
  if (column && begins) {
    const RowsByText rows = rows_by_text(more, *begins, there);
    out.head.insert(out.head.end(), more.head.begin(), more.head.end());
    for (auto& row : out.rows) {
      const CsvCell cell = row[*column];
      const std::vector<CsvCell>* found = row_of(rows, cell.text);
      if (found == nullptr) {
        here.fail(cell.at, fmt::format("{} begins with no text of column {} in {}",
                                       hw::quoted_text(cell.text), join.begins, more.file));
        continue;
      }
      // What is wrong with a joined cell is said of the row that asks for it.
      for (const CsvCell& further : *found) row.push_back({further.text, cell.at});
    }
  }
  if (here.empty() && there.empty()) return out;
  Errors all = here.take();
  for (Error& e : there.take()) all.push_back(std::move(e));
  return all;
}

}  // namespace accsim::sim
