#include "sim/validate/row_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hw/config/derive.h"
#include "hw/config/values.h"
#include "sim/base/parse_number.h"
#include "sim/sweep/space.h"
#include "sim/validate/near_whole.h"

namespace accsim::sim {
namespace {

hw::YamlNode scalar(const std::string& text, hw::TextPosition at) {
  return {hw::YamlNode::Kind::scalar, at, text, false, {}, {}};
}

/// The text of a node; reports a list or a map.
std::string scalar_text(const hw::YamlNode& node, const std::string& what, SpecErrors& errors) {
  if (node.kind != hw::YamlNode::Kind::scalar)
    errors.fail(node.at, what + " must be a text or a number");
  return node.text;
}

/// {column: NAME, words: {WORD: VALUE, ...}}
void read_words(const hw::YamlEntry& e, RowFieldSource& out, SpecErrors& errors) {
  bool good = true;
  read_section(e.value, e.at, e.key, {"column", "words"}, errors, [&](const hw::YamlEntry& c) {
    if (c.key == "column") {
      out.text = scalar_text(c.value, "column of " + e.key, errors);
      good &= c.value.kind == hw::YamlNode::Kind::scalar;
    }
    if (c.key != "words") return;
    for (const hw::YamlEntry& word : c.value.entries) {
      out.words.emplace_back(
          word.key, scalar_text(word.value, fmt::format("{} of {}", word.key, e.key), errors));
      good &= word.value.kind == hw::YamlNode::Kind::scalar;
    }
  });
  if (good && (out.text.empty() || out.words.empty()))
    errors.fail(e.at, fmt::format("{} needs column, and words with a value each", e.key));
}

}  // namespace

bool is_row_field(std::string_view key) {
  const hw::Field* field = hw::find_field(key);
  return field != nullptr && changes_costs(*field);  // a row's name isn't its machine's
}

std::optional<RowFieldSource> read_row_field(const hw::YamlEntry& e, SpecErrors& errors) {
  RowFieldSource out{hw::find_field(e.key), e.value.text, {}, e.value.at};
  if (!is_row_field(e.key)) return std::nullopt;
  if (e.value.kind == hw::YamlNode::Kind::map) {
    read_words(e, out, errors);
  } else if (e.value.kind != hw::YamlNode::Kind::scalar) {
    errors.fail(e.value.at, e.key + " is a column, a number, an expression, or {column, words}");
    return std::nullopt;
  }
  return out;
}

RowFields::RowFields(const std::vector<RowFieldSource>& sources, const CsvTable& table,
                     const std::string& source_file, SpecErrors& errors)
    : table_(table), numbers_(table.head.size()) {
  for (const RowFieldSource& source : sources) {
    Found out{&source, table.column(source.text), {}};
    if (!out.column) {
      auto parsed = Expression::parse(
          source.text, [&](std::string_view name) { return table.column(name); }, table.columns());
      if (parsed && source.words.empty())
        out.expression = std::move(*parsed);
      else
        errors.fail(table.head.front().at,
                    fmt::format("{}, which is asked for by {} in {}",
                                parsed ? "no column " + hw::quoted_text(source.text)
                                       : parsed.errors().front().message,
                                source.field->path, hw::where_text(source_file, source.at)));
    }
    found_.push_back(std::move(out));
  }
}

std::optional<std::string> RowFields::value_of(const Found& found, const std::vector<CsvCell>& row,
                                               hw::TextPosition& at, SpecErrors& errors) {
  if (found.column) {
    const CsvCell& cell = row[*found.column];
    at = cell.at;
    if (found.source->words.empty()) return cell.text;
    for (const auto& word : found.source->words)
      if (word.first == cell.text) return word.second;
    std::vector<std::string> words;
    for (const auto& word : found.source->words) words.push_back(word.first);
    errors.fail(at, fmt::format("{} is {}; valid: {}", found.source->text,
                                hw::quoted_text(cell.text), fmt::join(words, ", ")));
    return std::nullopt;
  }
  for (const size_t c : found.expression->variables()) {
    at = row[c].at;
    const auto number = parse_number<double>(row[c].text);
    if (!number || !std::isfinite(*number)) {
      errors.fail(at, fmt::format("{} is {}; it must be a number", table_.head[c].text,
                                  hw::quoted_text(row[c].text)));
      return std::nullopt;
    }
    numbers_[c] = *number;
  }
  return fmt::format("{}", near_whole(found.expression->value(numbers_)));
}

bool RowFields::read(const std::vector<CsvCell>& row, std::vector<RowSetting>& out,
                     SpecErrors& errors) {
  bool good = true;
  for (const Found& found : found_) {
    RowSetting setting{found.source->field, "", row.front().at};
    const auto value = value_of(found, row, setting.at, errors);
    good &= value.has_value();
    if (!value) continue;
    setting.value = *value;
    hw::HwConfig scratch;
    const auto problem = hw::read_value(*setting.field, scalar(*value, setting.at), scratch);
    if (problem) errors.fail(setting.at, *problem);
    good &= !problem;
    out.push_back(std::move(setting));
  }
  return good;
}

Status apply_row(const ValidationPoint& point, hw::HwConfig& hw) {
  if (point.set.empty()) return ok();
  const auto where_of = [&](const RowSetting& one) {
    return hw::where_text(point.table_file, one.at);
  };
  for (const RowSetting& one : point.set) {
    if (!has_field(hw, *one.field))
      return Error{Errc::invalid,
                   fmt::format("{} has no {}, which the row sets", hw.name, one.field->path),
                   where_of(one)};
    if (const auto problem = hw::read_value(*one.field, scalar(one.value, one.at), hw))
      return Error{Errc::invalid, *problem, where_of(one)};
  }
  derive(hw);
  if (const std::string broken = broken_rule(hw); !broken.empty())
    return Error{Errc::invalid, fmt::format("{} with this row: {}", hw.name, broken),
                 where_of(point.set.front())};
  return ok();
}

}  // namespace accsim::sim
