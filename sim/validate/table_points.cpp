#include "sim/validate/table_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "hw/config/values.h"
#include "sim/base/parse_number.h"
#include "sim/elaborate/elaborate.h"
#include "sim/sweep/expression.h"

namespace accsim::sim {
namespace {

std::optional<size_t> quantity_of_key(std::string_view key) {
  const auto& table = quantity_table();
  const auto at = std::ranges::find(table, key, &QuantityInfo::key);
  if (at == table.end() || is_area(static_cast<Quantity>(at - table.begin()))) return std::nullopt;
  return static_cast<size_t>(at - table.begin());
}

/// The texts of a scalar or of a list of them.
std::vector<std::string> texts_of(const hw::YamlNode& node) {
  std::vector<std::string> out;
  if (node.kind == hw::YamlNode::Kind::scalar) out.push_back(node.text);
  for (const hw::YamlNode& item : node.items) out.push_back(item.text);
  return out;
}

const LayerKind* read_kind(const hw::YamlEntry& e, SpecErrors& errors) {
  std::vector<std::string_view> names;
  for (const LayerKind& k : layer_kinds()) names.push_back(k.name);
  const auto at = read_choice(e, names, errors);
  return at ? &layer_kinds()[*at] : nullptr;
}

/// Keys of `columns` that pin how an engine of dot products divides its banks, in their order.
constexpr std::array<std::string_view, 2> kBankKeys = {"feature_banks", "weight_banks"};
std::optional<size_t> bank_of_key(std::string_view key) {
  const auto at = std::ranges::find(kBankKeys, key);
  if (at == kBankKeys.end()) return std::nullopt;
  return static_cast<size_t>(at - kBankKeys.begin());
}

/// Keys of `columns`: name and family, the kind's sizes, banks, and the measured figure.
void read_columns(const hw::YamlEntry& e, TableSection& out, SpecErrors& errors) {
  std::vector<std::string> keys = {"name", "family"};
  for (const LayerParameter& p : out.kind->parameters) keys.emplace_back(p.name);
  for (const std::string_view key : kBankKeys) keys.emplace_back(key);
  for (const QuantityInfo& q : quantity_table())
    if (quantity_of_key(q.key)) keys.emplace_back(q.key);
  std::set<std::string, std::less<>> found;
  int measured = 0;
  read_section(e.value, e.at, "columns", keys, errors, [&](const hw::YamlEntry& c) {
    if (c.value.kind != hw::YamlNode::Kind::scalar)
      return errors.fail(c.value.at, c.key + " is a column, a number or an expression");
    out.columns.push_back({c.key, c.value.text, c.value.at});
    found.insert(c.key);
    measured += quantity_of_key(c.key) ? 1 : 0;
  });
  for (const LayerParameter& p : out.kind->parameters)
    if (p.is_needed() && !found.contains(p.name))
      errors.fail(e.at,
                  fmt::format("columns of {} need {} ({})", out.kind->name, p.name, p.meaning));
  if (found.contains(kBankKeys[0]) != found.contains(kBankKeys[1]))
    errors.fail(e.at, "columns need both feature_banks and weight_banks, or none of them");
  if (measured != 1) errors.fail(e.at, "columns need one measured figure, such as cycles or us");
}

void read_functions(const hw::YamlEntry& e, TableSection& out, SpecErrors& errors) {
  out.functions = texts_of(e.value);
  for (const std::string& f : out.functions)
    if (std::ranges::find(pointwise_functions(), f) == pointwise_functions().end())
      errors.fail(e.value.at, fmt::format("function {} isn't known; valid: {}", hw::quoted_text(f),
                                          fmt::join(pointwise_functions(), ", ")));
}

/// A section's columns, found in a table.
class RowReader {
 public:
  RowReader(const TableSection& section, const CsvTable& table)
      : section_(section), table_(table), errors_(table.file) {
    for (const TableSection::Source& source : section.columns) find_source(source);
    for (const TableSection::Filter& filter : section.where)
      filters_.push_back(find_column(filter.column, "where", filter.at));
  }

  Result<std::vector<ValidationPoint>> read_points(const ValidationPoint& common) {
    std::vector<ValidationPoint> out;
    if (!errors_.empty()) return errors_.take();
    for (const auto& row : table_.rows)
      if (is_taken(row)) read_point(row, common, out);
    if (!errors_.empty()) return errors_.take();
    return out;
  }

 private:
  using Row = std::vector<CsvCell>;
  /// What a key is read from.
  struct Found {
    std::string key;
    std::optional<size_t> column;
    std::optional<Expression> expression;  ///< where it is no column
    bool is_text() const { return key == "name" || key == "family"; }
  };

  std::string place_of(hw::TextPosition at) const {
    return hw::where_text(section_.source_file, at);
  }

  std::optional<size_t> find_column(const std::string& name, const std::string& key,
                                    hw::TextPosition at) {
    const auto column = table_.column(name);
    if (column) return column;
    const auto close = hw::nearest_word(name, table_.columns());
    errors_.fail(
        table_.head.front().at,
        fmt::format("no column {}, which is asked for by {} in {}{}", hw::quoted_text(name), key,
                    place_of(at), close ? fmt::format("; did you mean \"{}\"?", *close) : ""));
    return std::nullopt;
  }

  static bool is_plain_name(std::string_view text) {
    return std::ranges::all_of(text, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
  }

  void find_source(const TableSection::Source& source) {
    Found out{source.key, table_.column(source.text), {}};
    const bool number = parse_number<double>(source.text).has_value();
    if (!out.column && (out.is_text() || (!number && is_plain_name(source.text)))) {
      find_column(source.text, source.key, source.at);  // which says what is missing
    } else if (!out.column) {
      auto parsed = Expression::parse(
          source.text, [&](std::string_view name) { return table_.column(name); },
          table_.columns());
      if (parsed)
        out.expression = std::move(*parsed);
      else
        errors_.fail(table_.head.front().at,
                     fmt::format("{}, which is asked for by {} in {}",
                                 parsed.errors().front().message, source.key, place_of(source.at)));
    }
    sources_.push_back(std::move(out));
  }

  bool is_taken(const Row& row) const {
    for (size_t f = 0; f < filters_.size(); ++f) {
      const std::string& cell = row[*filters_[f]].text;
      const auto number = parse_number<double>(cell);
      const auto same = [&](const std::string& text) {
        return text == cell || (number && parse_number<double>(text) == number);
      };
      if (std::ranges::none_of(section_.where[f].texts, same)) return false;
    }
    return true;
  }

  std::optional<double> number_in(const CsvCell& cell, const std::string& what) {
    const auto v = parse_number<double>(cell.text);
    if (v && std::isfinite(*v)) return v;
    errors_.fail(cell.at, cell.text.empty() ? fmt::format("{} is empty; it must be a number", what)
                                            : fmt::format("{} is {}; it must be a number", what,
                                                          hw::quoted_text(cell.text)));
    return std::nullopt;
  }

  /// The index of a cell's word among those that a size has.
  std::optional<double> word_in(const CsvCell& cell, const LayerParameter& parameter) {
    const auto at = std::ranges::find(parameter.words, cell.text);
    if (at != parameter.words.end()) return static_cast<double>(at - parameter.words.begin());
    errors_.fail(cell.at,
                 fmt::format("{} is {}; valid: {}", parameter.name, hw::quoted_text(cell.text),
                             fmt::join(parameter.words, ", ")));
    return std::nullopt;
  }

  /// The value of a key in a row, and the cell that errors are said of.
  std::optional<double> value_of(const Found& found, const Row& row, hw::TextPosition& at) {
    if (found.column) {
      at = row[*found.column].at;
      const LayerParameter* size = section_.kind->parameter(found.key);
      if (size != nullptr && !size->words.empty()) return word_in(row[*found.column], *size);
      return number_in(row[*found.column], found.key);
    }
    numbers_.resize(table_.head.size());
    bool good = true;
    for (const size_t c : found.expression->variables()) {
      at = row[c].at;
      const auto v = number_in(row[c], table_.head[c].text);
      good &= v.has_value();
      numbers_[c] = v.value_or(0);
    }
    if (!good) return std::nullopt;
    return found.expression->value(numbers_);
  }

  static std::pair<int64_t, int64_t> range_of(const LayerParameter& size) {
    const auto words = static_cast<int64_t>(size.words.size());
    return {size.least, words > 0 ? words - 1 : kMostLayerSize};
  }

  /// Sizes and figure of a row; false where a cell is wrong, which is reported.
  bool read_numbers(const Row& row, ValidationPoint& p, LayerSizes& sizes) {
    bool good = true;
    for (const Found& found : sources_) {
      if (found.is_text()) continue;
      hw::TextPosition at = row.front().at;
      const auto value = value_of(found, row, at);
      good &= value.has_value();
      if (!value) continue;
      if (const auto quantity = quantity_of_key(found.key)) {
        p.quantity = static_cast<Quantity>(*quantity);
        p.measured = *value;
        if (*value > 0 && std::isfinite(*value)) continue;
        errors_.fail(at, fmt::format("{} is {}; a measured figure is above 0", found.key, *value));
        good = false;
        continue;
      }
      const std::optional<size_t> bank = bank_of_key(found.key);
      const auto [least, most] = bank ? std::pair<int64_t, int64_t>{1, kMostLayerSize}
                                      : range_of(*section_.kind->parameter(found.key));
      const bool whole = *value == std::floor(*value) && *value >= static_cast<double>(least) &&
                         *value <= static_cast<double>(most);
      if (whole && bank) {
        p.banks.resize(kBankKeys.size());
        p.banks[*bank] = static_cast<int64_t>(*value);
      } else if (whole)
        sizes.values[found.key] = static_cast<int64_t>(*value);
      else
        errors_.fail(at, fmt::format("{} is {}; it must be a whole number of {}..{}", found.key,
                                     *value, least, most));
      good &= whole;
    }
    return good;
  }

  void read_texts(const Row& row, ValidationPoint& p) {
    p.family = section_.family;
    for (const Found& found : sources_) {
      if (found.key == "name") p.name = row[*found.column].text;
      if (found.key == "family" && !row[*found.column].text.empty())
        p.family = row[*found.column].text;
    }
    if (p.name.empty()) p.name = fmt::format("line {}", p.table_line);
    if (!names_.insert(p.name).second) p.name += fmt::format(" (line {})", p.table_line);
  }

  void read_point(const Row& row, const ValidationPoint& common,
                  std::vector<ValidationPoint>& out) {
    ValidationPoint p = common;
    p.table_file = table_.file;
    p.table_line = row.front().at.line;
    read_texts(row, p);
    LayerSizes sizes;
    sizes.functions = section_.functions;
    if (!read_numbers(row, p, sizes)) return;
    fill_sizes(*section_.kind, sizes);
    if (section_.kind->parameter("batch") != nullptr) p.frames = sizes["batch"];
    auto graph = graph_of(sizes);
    if (!graph) return fail_row(row, p.name, graph.errors());
    if (section_.kind->cycles != nullptr) {
      const auto cycles = section_.kind->cycles(sizes);
      if (!cycles) return fail_row(row, p.name, cycles.errors());
      p.cycles = *cycles;
    }
    p.workload = section_.kind->name;
    p.graph = std::move(*graph);
    out.push_back(std::move(p));
  }

  void fail_row(const Row& row, const std::string& name, const Errors& errors) {
    for (const Error& e : errors)
      errors_.fail(row.front().at,
                   fmt::format("{}: there is no such {}: {}", name, section_.kind->name, e.text()));
  }

  Result<Graph> graph_of(const LayerSizes& sizes) const {
    const auto model = section_.kind->model(sizes);
    if (!model) return model.errors();
    return elaborate(*model, {});
  }

  const TableSection& section_;
  const CsvTable& table_;
  SpecErrors errors_;
  std::vector<Found> sources_;
  std::vector<std::optional<size_t>> filters_;  ///< columns, by TableSection::where
  std::vector<double> numbers_;                 ///< of a row, by column, for expressions
  std::set<std::string> names_;
};

}  // namespace

namespace {

/// Columns, with the words that a row may have there.
void read_where(const hw::YamlEntry& e, TableSection& to, SpecErrors& errors) {
  if (e.value.kind != hw::YamlNode::Kind::map || e.value.entries.empty())
    return errors.fail(e.value.at, "where must have columns with what a row has there");
  for (const hw::YamlEntry& f : e.value.entries) {
    to.where.push_back({f.key, texts_of(f.value), f.at});
    if (to.where.back().texts.empty())
      errors.fail(f.at, f.key + " must be what a row has there, or a list of that");
  }
}

}  // namespace

TableSection read_table_section(const hw::YamlNode& node, const std::string& source_file,
                                SpecErrors& errors) {
  TableSection out;
  out.source_file = source_file;
  out.at = node.at;
  const hw::YamlEntry* columns = nullptr;
  bool has_kind = false;
  const std::vector<std::string> keys = {"file",  "workload", "columns",
                                         "where", "family",   "function"};
  read_section(node, node.at, "a table", keys, errors, [&](const hw::YamlEntry& e) {
    if (e.key == "file")
      for (const std::string& file : texts_of(e.value))
        out.files.push_back(path_beside(source_file, file));
    if (e.key == "workload") out.kind = read_kind(e, errors);
    has_kind |= e.key == "workload";
    if (e.key == "columns") columns = &e;
    if (e.key == "family") {
      out.family = e.value.text;
      if (e.value.kind != hw::YamlNode::Kind::scalar)
        errors.fail(e.value.at, "family must be a text");
    }
    if (e.key == "function") read_functions(e, out, errors);
    if (e.key == "where") read_where(e, out, errors);
  });
  if (node.kind != hw::YamlNode::Kind::map) return out;
  if (out.files.empty() || columns == nullptr || !has_kind)
    errors.fail(node.at, "a table needs file, workload and columns");
  if (out.kind == nullptr || columns == nullptr) return out;
  read_columns(*columns, out, errors);
  if (out.functions.empty() == (out.kind->name == "pointwise"))
    errors.fail(node.at, "function is of pointwise layers, and they need it");
  return out;
}

Result<std::vector<ValidationPoint>> table_points(const TableSection& section,
                                                  const CsvTable& table,
                                                  const ValidationPoint& common) {
  return RowReader(section, table).read_points(common);
}

std::vector<ValidationPoint> points_of_tables(const std::vector<TableSection>& sections,
                                              const std::optional<std::string>& other,
                                              const ValidationPoint& common,
                                              std::vector<std::string>& read, SpecErrors& errors) {
  std::vector<ValidationPoint> out;
  std::map<std::string, Result<CsvTable>> tables;
  bool good = true;
  for (const TableSection& section : sections) {
    const size_t before = out.size();
    bool section_good = true;
    for (const std::string& file : other ? std::vector{*other} : section.files) {
      auto at = tables.find(file);
      if (at == tables.end()) {
        at = tables.emplace(file, load_csv(file)).first;
        read.push_back(file);
        if (!at->second) errors.add(at->second.errors());
      }
      section_good &= at->second.ok();
      if (!at->second) continue;
      auto points = table_points(section, *at->second, common);
      section_good &= points.ok();
      if (points)
        std::ranges::move(*points, std::back_inserter(out));
      else
        errors.add(points.errors());
    }
    if (section_good && out.size() == before && !other)
      errors.fail(section.at, "where takes no row of " + section.files.front());
    good &= section_good;
  }
  if (good && out.empty() && other)
    errors.add({{Errc::invalid, "no row that a where of the source takes", *other}});
  return out;
}

}  // namespace accsim::sim
