#include "sim/validate/table_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "hw/config/values.h"
#include "sim/validate/row_pattern.h"
#include "sim/validate/unit_kinds.h"
#include "sim/validate/validation.h"

namespace accsim::sim {
namespace {

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

/// Keys of `columns`: name and family, the kind's sizes, banks, and the measured figure.
void read_columns(const hw::YamlEntry& e, TableSection& out, SpecErrors& errors) {
  std::vector<std::string> keys = {"name", "family"};
  for (const LayerParameter& p : out.kind->parameters) keys.emplace_back(p.name);
  keys.insert(keys.end(), kBankKeys.begin(), kBankKeys.end());
  keys.insert(keys.end(), kPlaceKeys.begin(), kPlaceKeys.end());
  keys.insert(keys.end(), {std::string(kBothBanks), std::string(kWeightsKept)});
  for (const QuantityInfo& q : quantity_table())
    if (quantity_of_key(q.key)) keys.emplace_back(q.key);
  const auto sets_field = [&](const std::string& key) {  // a size may be called as a field is
    return out.kind->parameter(key) == nullptr && is_row_field(key);
  };
  for (const hw::YamlEntry& c : e.value.entries)
    if (sets_field(c.key)) keys.push_back(c.key);
  std::set<std::string, std::less<>> found;
  int measured = 0;
  read_section(e.value, e.at, "columns", keys, errors, [&](const hw::YamlEntry& c) {
    if (sets_field(c.key)) {
      if (auto field = read_row_field(c, errors)) out.fields.push_back(std::move(*field));
      return;
    }
    if (c.value.kind == hw::YamlNode::Kind::map && is_number_key(c.key)) {
      if (auto pattern = CellPattern::read(c, errors))
        out.columns.push_back({c.key, pattern->column(), c.at, std::move(pattern)});
    } else if (c.value.kind != hw::YamlNode::Kind::scalar) {
      errors.fail(c.value.at, c.key + " is a column, a number or an expression");
    } else {
      out.columns.push_back({c.key, c.value.text, c.value.at});
    }
    if (const auto pattern = parse_row_pattern(c.value.text); is_row_text(c.key) && !pattern)
      errors.fail(c.value.at, pattern.errors().front().message);
    found.insert(c.key);
    measured += quantity_of_key(c.key) ? 1 : 0;
  });
  for (const LayerParameter& p : out.kind->parameters)
    if (p.is_needed() && !found.contains(p.name))
      errors.fail(e.at,
                  fmt::format("columns of {} need {} ({})", out.kind->name, p.name, p.meaning));
  if (found.contains(kBankKeys[0]) != found.contains(kBankKeys[1]))
    errors.fail(e.at, "columns need both feature_banks and weight_banks, or none of them");
  if (found.contains(kBankKeys[0]) && found.contains(kBothBanks))
    errors.fail(e.at, "columns need banks, or feature_banks and weight_banks, not all of them");
  if (found.contains(kWeightsKept) && !found.contains(kBankKeys[0]) && !found.contains(kBothBanks))
    errors.fail(e.at, "columns with weights_kept need banks, too");
  if (measured != 1) errors.fail(e.at, "columns need one measured figure, such as cycles or us");
  if (out.kind->cycles == nullptr && out.kind->cost == nullptr) return;
  for (const TableSection::Source& c : out.columns)
    if (!is_row_text(c.key) && out.kind->parameter(c.key) == nullptr && c.key != "cycles")
      errors.fail(
          c.at, fmt::format("{} has no {}: its cycles alone are predicted", out.kind->name, c.key));
}

void read_functions(const hw::YamlEntry& e, TableSection& out, SpecErrors& errors) {
  out.functions = texts_of(e.value);
  for (const std::string& f : out.functions)
    if (std::ranges::find(pointwise_functions(), f) == pointwise_functions().end())
      errors.fail(e.value.at, fmt::format("function {} isn't known; valid: {}", hw::quoted_text(f),
                                          fmt::join(pointwise_functions(), ", ")));
}

/// The file of the machine that the rows are of.
void read_machine(const hw::YamlEntry& e, TableSection& to, SpecErrors& errors) {
  if (e.value.kind != hw::YamlNode::Kind::scalar || e.value.text.empty())
    return errors.fail(e.value.at, "machine must be a file");
  to.machine = path_beside(to.source_file, e.value.text);
}

/// What a table calls the memories of a machine.
void read_places(const hw::YamlEntry& e, TableSection& to, SpecErrors& errors) {
  if (e.value.kind != hw::YamlNode::Kind::map || e.value.entries.empty())
    return errors.fail(e.value.at, "places must have words of the table with their memories");
  const std::array<std::string_view, 2> memories = {name(hw::MemoryId::dram),
                                                    name(hw::MemoryId::shared)};
  for (const hw::YamlEntry& word : e.value.entries)
    if (const auto at = read_choice(word, memories, errors))
      to.places[word.key] = std::string(memories[*at]);
}

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

std::optional<size_t> quantity_of_key(std::string_view key) {
  const auto& table = quantity_table();
  const auto at = std::ranges::find(table, key, &QuantityInfo::key);
  if (at == table.end() || is_area(static_cast<Quantity>(at - table.begin()))) return std::nullopt;
  return static_cast<size_t>(at - table.begin());
}

bool is_row_text(std::string_view key) { return key == "name" || key == "family"; }

bool is_place_key(std::string_view key) {
  return std::ranges::find(kPlaceKeys, key) != kPlaceKeys.end();
}

bool is_number_key(std::string_view key) {
  return !is_row_text(key) && key != kBothBanks && !is_place_key(key);
}

std::optional<size_t> bank_of_key(std::string_view key) {
  const auto at = std::ranges::find(kBankKeys, key);
  if (at == kBankKeys.end()) return std::nullopt;
  return static_cast<size_t>(at - kBankKeys.begin());
}

TableSection read_table_section(const hw::YamlNode& node, const std::string& source_file,
                                SpecErrors& errors) {
  TableSection out;
  out.source_file = source_file;
  out.at = node.at;
  const hw::YamlEntry* columns = nullptr;
  bool has_kind = false;
  const std::vector<std::string> keys = {"file",     "workload", "columns", "where",  "family",
                                         "function", "join",     "places",  "machine"};
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
    if (e.key == "machine") read_machine(e, out, errors);
    if (e.key == "function") read_functions(e, out, errors);
    if (e.key == "where") read_where(e, out, errors);
    if (e.key == "places") read_places(e, out, errors);
    if (e.key == "join") out.join = read_join(e, source_file, errors);
  });
  if (node.kind != hw::YamlNode::Kind::map) return out;
  if (out.files.empty() || columns == nullptr || !has_kind)
    errors.fail(node.at, "a table needs file, workload and columns");
  if (out.kind == nullptr || columns == nullptr) return out;
  read_columns(*columns, out, errors);
  const bool has_stages = std::ranges::count(out.columns, kOwnStages, &TableSection::Source::key);
  if (out.functions.empty() == (out.kind->name == "pointwise" && !has_stages))
    errors.fail(node.at, "function is of pointwise layers, and they need it");
  return out;
}

}  // namespace accsim::sim
