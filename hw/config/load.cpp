#include "hw/config/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "hw/config/derive.h"
#include "hw/config/engine_lists.h"
#include "hw/config/fields.h"
#include "hw/config/mode_list.h"
#include "hw/config/read_yaml.h"
#include "hw/config/rules.h"
#include "hw/config/values.h"
#include "hw/config/yaml_tree.h"

namespace accsim::hw {
namespace {

std::vector<std::string> keys_of(const KeyNode& section) {
  std::vector<std::string> keys;
  for (const KeyNode& child : section.children) keys.push_back(child.key);
  return keys;
}

/// The same for people, without what an optional word asks for: "rows, cols (more with template:
/// dot_product)".
std::string key_list(const KeyNode& section) {
  std::vector<std::string> keys;
  std::string more;
  for (const KeyNode& child : section.children) {
    const auto& only = child.field ? child.field->only : std::nullopt;
    if (only && find_field(only->path)->optional)
      more = fmt::format(" (more with {}: {})", only->path.substr(section.path.size() + 1),
                         only->word);
    else
      keys.push_back(child.key);
  }
  return fmt::format("{}{}", fmt::join(keys, ", "), more);
}

std::string section_text(const KeyNode& section) {
  return section.path.empty() ? "the file" : section.path;
}

/// Paths of all fields and sections named `key`, for a key that stands in the wrong section.
void find_homes(const KeyNode& section, const std::string& key, std::vector<std::string>& homes) {
  for (const KeyNode& child : section.children) {
    if (child.key == key) homes.push_back(child.path);
    find_homes(child, key, homes);
  }
}

/// Keys that machines no longer have, and what to do about them.
struct GoneKey {
  std::string_view path, advice;
};
constexpr std::array<GoneKey, 1> kGoneKeys = {{
    {"dram.read_share", "reads and writes share one bus, in the order of requests; remove it"},
}};

/// Walks the YAML tree along the key tree, filling the machine and the error list.
class Reader {
 public:
  explicit Reader(const std::string& file) { hw_.file = file; }

  void read_section(const KeyNode& wanted, const YamlNode& node, TextPosition at) {
    if (node.kind != YamlNode::Kind::map) {
      add_error(at, fmt::format("{} must be a section with the keys {}", section_text(wanted),
                                key_list(wanted)));
      return;
    }
    std::map<std::string_view, const YamlEntry*> seen;
    for (const YamlEntry& entry : node.entries) {
      const auto [first, is_new] = seen.emplace(entry.key, &entry);
      if (!is_new)
        add_error(entry.at, fmt::format("duplicate key {} in {}; the first is on line {}",
                                        quoted_text(entry.key), section_text(wanted),
                                        first->second->at.line));
      else if (std::ranges::find(wanted.children, entry.key, &KeyNode::key) ==
               wanted.children.end())
        refuse_unknown_key(wanted, entry);
    }
    // In the order of the table: lists of engines name those that were read before.
    for (const KeyNode& child : wanted.children)
      if (const auto found = seen.find(child.key); found != seen.end())
        read_entry(child, *found->second);
    for (const KeyNode& child : wanted.children) {
      const auto found = seen.find(child.key);
      if (!is_applicable(child)) {
        if (found != seen.end()) out_of_place(*child.field, found->second->at);
      } else if (found == seen.end()) {
        leave_out(wanted, child, at);
      }
    }
  }

  Result<HwConfig> checked_machine() {
    if (read_.count("clock_mhz") > 0) derive(hw_);
    // Of a list that was read a rule tells.
    if (hw_.energy.technology == Technology::custom)
      errors_.insert(errors_.end(), without_energy_.begin(), without_energy_.end());
    RuleContext context(hw_, read_, errors_);
    for (const Rule& rule : config_rules()) rule.check(context);
    if (errors_.empty()) return std::move(hw_);
    std::stable_sort(errors_.begin(), errors_.end(), [](const auto& a, const auto& b) {
      return std::pair(a.at.line, a.at.column) < std::pair(b.at.line, b.at.column);
    });
    Errors errors;
    for (PlacedError& e : errors_)
      errors.push_back({Errc::invalid, std::move(e.message), where_text(hw_.file, e.at)});
    return errors;
  }

 private:
  void read_entry(const KeyNode& child, const YamlEntry& entry) {
    if (child.field == nullptr) {
      read_section(child, entry.value, entry.at);
    } else if (std::holds_alternative<Member<std::vector<TypeMode>>>(child.field->target)) {
      read_mode_entries(*child.field, entry);
    } else if (is_engine_list(*child.field)) {
      read_engine_entries(*child.field, entry);
    } else if (auto problem = read_value(*child.field, entry.value, hw_)) {
      add_error(entry.value.kind == YamlNode::Kind::scalar ? entry.value.at : entry.at,
                std::move(*problem));
    } else {
      read_[child.path] = entry.at;
    }
  }

  /// Each entry is known to rules by itself.
  void read_engine_entries(const Field& field, const YamlEntry& entry) {
    const ListReading found = read_engine_list(field, entry.value, hw_);
    errors_.insert(errors_.end(), found.errors.begin(), found.errors.end());
    if (!found.errors.empty()) return;
    read_[field.path] = entry.at;
    for (size_t i = 0; i < found.at.size(); ++i) read_[entry_path(field.path, i)] = found.at[i];
  }

  /// Each mode is known to rules by itself.
  void read_mode_entries(const Field& field, const YamlEntry& entry) {
    ModeList found = read_mode_list(field.path, entry.value);
    if (!found.errors.empty()) {
      errors_.insert(errors_.end(), found.errors.begin(), found.errors.end());
      without_energy_ = std::move(found.without_energy);
      return;
    }
    read_[field.path] = entry.at;
    for (size_t i = 0; i < found.at.size(); ++i) read_[mode_path(i)] = found.at[i];
    hw_.types.modes = std::move(found.modes);
  }

  void add_error(TextPosition at, std::string message) {
    errors_.push_back({at, std::move(message)});
  }

  void refuse_unknown_key(const KeyNode& wanted, const YamlEntry& entry) {
    std::string advice;
    std::vector<std::string> homes;
    find_homes(key_tree(), entry.key, homes);
    const std::string path = wanted.path.empty() ? entry.key : wanted.path + "." + entry.key;
    const auto gone = std::ranges::find(kGoneKeys, path, &GoneKey::path);
    if (gone != kGoneKeys.end()) {
      advice = gone->advice;
    } else if (const auto close = nearest_word(entry.key, keys_of(wanted))) {
      advice = fmt::format("did you mean \"{}\"?", *close);
    } else if (!homes.empty()) {
      advice = fmt::format("this key belongs at {}", fmt::join(homes, ", "));
    } else {
      advice = fmt::format("valid here: {}", key_list(wanted));
    }
    add_error(entry.at, fmt::format("unknown key {} in {}; {}", quoted_text(entry.key),
                                    section_text(wanted), advice));
  }

  /// False for a key that the value of another key rules out. Undecided when that one wasn't read:
  /// then neither its presence nor its absence is an error.
  bool is_applicable(const KeyNode& child) const {
    if (child.field == nullptr || !child.field->only) return true;
    const Condition& only = *child.field->only;
    return read_.count(only.path) > 0 && only.holds(hw_);
  }

  void out_of_place(const Field& field, TextPosition at) {
    const Condition& only = *field.only;
    if (read_.count(only.path) == 0) return;
    add_error(at,
              fmt::format("{} is only for {}: {}; remove it", field.path, only.path, only.word));
    read_.erase(field.path);
  }

  /// What the file doesn't say: all is well where it has a value without, which rules then know.
  void leave_out(const KeyNode& wanted, const KeyNode& child, TextPosition at) {
    if (child.field == nullptr && child.section_there != nullptr) return;
    if (child.field != nullptr && child.field->optional)
      read_[child.path] = at;
    else if (child.field == nullptr || !is_derived(*child.field, hw_) || !has_technology())
      refuse_missing_key(wanted, child, at);
  }

  /// Also when it couldn't be read: then nobody knows what may be left out.
  bool has_technology() const {
    return hw_.energy.technology != Technology::custom || read_.count("energy.technology") == 0;
  }

  void refuse_missing_key(const KeyNode& wanted, const KeyNode& child, TextPosition at) {
    const std::string what =
        child.field == nullptr
            ? fmt::format("a section with the keys {}", key_list(child))
            : fmt::format("{}, {}{}{}: {}", type_text(*child.field), range_text(*child.field),
                          child.field->unit.empty() ? "" : " ", child.field->unit,
                          child.description);
    add_error(at,
              fmt::format("missing key \"{}\" in {} ({})", child.key, section_text(wanted), what));
  }

  HwConfig hw_;
  RuleContext::Positions read_;
  std::vector<PlacedError> errors_, without_energy_;
};

}  // namespace

Result<HwConfig> parse_hw(std::string_view yaml_text, const std::string& file_name) {
  const auto tree = parse_yaml(yaml_text, file_name);
  if (!tree) return tree.errors();
  if (tree->kind == YamlNode::Kind::null) return Error{Errc::parse, "the file is empty", file_name};
  Reader reader(file_name);
  reader.read_section(key_tree(), *tree, tree->at);
  return reader.checked_machine();
}

Result<HwConfig> load_hw(const std::string& path) {
  const auto text = read_yaml(path, "machine description");
  if (!text) return text.errors();
  return parse_hw(*text, path);
}

}  // namespace accsim::hw
