#include "sim/validate/table_files.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "sim/validate/csv_table.h"
#include "sim/validate/table_points.h"

namespace accsim::sim {
namespace {

/// Tables by file, each read once.
class TableFiles {
 public:
  TableFiles(std::vector<std::string>& read, SpecErrors& errors) : read_(read), errors_(errors) {}

  /// Null where it can't be read, which is reported once. `of_rows`: its rows are points.
  const CsvTable* load(const std::string& file, bool of_rows = true) {
    auto at = tables_.find(file);
    if (of_rows && std::ranges::find(read_, file) == read_.end()) read_.push_back(file);
    if (at == tables_.end()) {
      at = tables_.emplace(file, load_csv(file)).first;
      if (!at->second) errors_.add(at->second.errors());
    }
    return at->second ? &*at->second : nullptr;
  }

 private:
  std::vector<std::string>& read_;
  SpecErrors& errors_;
  std::map<std::string, Result<CsvTable>> tables_;
};

/// Has the table what the section's filters and join ask for?
bool is_of_section(const TableSection& section, const CsvTable& table) {
  if (section.join && !table.column(section.join->column)) return false;
  return std::ranges::all_of(section.where,
                             [&](const auto& f) { return table.column(f.column).has_value(); });
}

/// The sections that take rows of `other`, all of them where none does: their errors say why.
std::vector<TableSection> sections_for(const std::vector<TableSection>& sections,
                                       const CsvTable& other) {
  std::vector<TableSection> out;
  std::ranges::copy_if(sections, std::back_inserter(out),
                       [&](const TableSection& section) { return is_of_section(section, other); });
  return out.empty() ? sections : out;
}

/// The points of one table, added to `out`; false where something is wrong, which is reported.
bool add_points(const TableSection& section, const std::string& file, const ValidationPoint& common,
                TableFiles& tables, std::vector<ValidationPoint>& out, SpecErrors& errors) {
  const CsvTable* table = tables.load(file);
  const CsvTable* more = section.join ? tables.load(section.join->file, false) : nullptr;
  if (table == nullptr || (section.join && more == nullptr)) return false;
  const Result<CsvTable> whole = more ? join_tables(*table, *section.join, *more) : *table;
  if (!whole) return errors.add(whole.errors()), false;
  auto points = table_points(section, *whole, common);
  if (!points) return errors.add(points.errors()), false;
  std::ranges::move(*points, std::back_inserter(out));
  return true;
}

}  // namespace

std::vector<ValidationPoint> points_of_tables(const std::vector<TableSection>& all,
                                              const std::optional<std::string>& other,
                                              const ValidationPoint& common,
                                              std::vector<std::string>& read, SpecErrors& errors) {
  std::vector<ValidationPoint> out;
  TableFiles tables(read, errors);
  std::vector<TableSection> sections = all;
  if (other) {
    const CsvTable* table = tables.load(*other);
    if (table == nullptr) return out;
    sections = sections_for(all, *table);
  }
  bool good = true;
  for (const TableSection& section : sections) {
    const size_t before = out.size();
    bool section_good = true;
    for (const std::string& file : other ? std::vector{*other} : section.files)
      section_good &= add_points(section, file, common, tables, out, errors);
    if (section_good && out.size() == before && !other)
      errors.fail(section.at, "where takes no row of " + section.files.front());
    good &= section_good;
  }
  if (good && out.empty() && other)
    errors.add({{Errc::invalid, "no row that a where of the source takes", *other}});
  return out;
}

}  // namespace accsim::sim
