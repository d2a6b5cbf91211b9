#pragma once
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/support/source.h"

namespace accsim {

/// A row of a table of validation/tables/: text by the name of its column.
using MeasuredRow = std::map<std::string, std::string>;

/// The cells of a line; quotes keep commas.
inline std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      out.emplace_back();
    else if (c != '\r')
      out.back() += c;
  }
  return out;
}

/// All rows of validation/tables/FILE.
inline std::vector<MeasuredRow> measured_rows(const std::string& file_name) {
  std::ifstream file(kSource + "/validation/tables/" + file_name);
  std::vector<MeasuredRow> rows;
  std::vector<std::string> head;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    const std::vector<std::string> row = cells(line);
    if (head.empty()) {
      head = row;
      continue;
    }
    rows.emplace_back();
    for (size_t i = 0; i < row.size(); ++i) rows.back()[head.at(i)] = row[i];
  }
  return rows;
}

inline int64_t number(const MeasuredRow& row, const std::string& column) {
  return std::stoll(row.at(column));
}

}  // namespace accsim
