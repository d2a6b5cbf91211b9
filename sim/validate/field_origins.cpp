#include "sim/validate/field_origins.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "hw/config/derive.h"
#include "hw/config/engine_lists.h"
#include "hw/config/load.h"
#include "hw/config/read_yaml.h"
#include "hw/config/values.h"
#include "hw/config/yaml_tree.h"
#include "sim/sweep/field_setting.h"
#include "sim/sweep/space.h"
#include "sim/sweep/spec_values.h"

namespace accsim::sim {
namespace {

constexpr std::string_view kAssumed = "assumed ", kNotModelled = "not modelled: ";
constexpr size_t kIndent = 4;  // blanks that a line which goes on begins with

std::string_view trim_blanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    out.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

/// "TAG" and "rest" of "[TAG] rest"; an empty tag when it isn't that.
std::pair<std::string, std::string> split_tag(std::string_view text) {
  const size_t end = text.find(']');
  if (!text.starts_with('[') || end == std::string_view::npos) return {};
  return {std::string(text.substr(1, end - 1)), std::string(trim_blanks(text.substr(end + 1)))};
}

std::vector<std::string> split_range(std::string_view text) {
  std::vector<std::string> out;
  const std::string_view mark = text.find("..") != std::string_view::npos ? ".." : "|";
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(mark, begin), text.size());
    out.emplace_back(trim_blanks(text.substr(begin, end - begin)));
    begin = end + mark.size();
  }
  return out;
}

/// Every field's value in the file, by path.
void collect_values(const hw::YamlNode& node, const std::string& prefix,
                    std::map<std::string, hw::TextPosition>& out) {
  for (const hw::YamlEntry& e : node.entries) {
    const std::string path = prefix.empty() ? e.key : prefix + "." + e.key;
    if (e.value.kind == hw::YamlNode::Kind::map)
      collect_values(e.value, path, out);
    else
      out[path] = e.value.at;
    for (size_t i = 0; i < e.value.items.size(); ++i)
      out[hw::entry_path(path, i)] = e.value.items[i].at;
  }
}

/// Sets the field as a file with this text would; what is wrong with the text, if anything.
std::optional<std::string> set_text(const hw::Field& field, const std::string& text,
                                    hw::HwConfig& hw) {
  const auto tree = hw::parse_yaml("value: " + text + "\n", hw.file);
  if (!tree || tree->entries.size() != 1) return hw::quoted_text(text) + " is no value";
  const auto problem = hw::read_value(field, tree->entries.front().value, hw);
  derive(hw);
  return problem;
}

class OriginReader {
 public:
  OriginReader(std::string_view text, const std::string& file)
      : lines_(lines_of(text)), errors_(file) {}

  Result<KnownMachine> read_origins(hw::HwConfig hw, const hw::YamlNode& tree) {
    out_.hw = std::move(hw);
    read_header();
    std::map<std::string, hw::TextPosition> places;
    collect_values(tree, "", places);
    for (const hw::Field& field : hw::fields()) {
      const auto at = places.find(field.path);
      if (at == places.end() || !changes_costs(field)) continue;
      if (is_engine_list(field))
        read_entries(field, places);
      else
        read_origin(field, at->second);
    }
    std::ranges::stable_sort(out_.origins, {}, &FieldOrigin::line);
    if (!errors_.empty()) return errors_.take();
    return std::move(out_);
  }

 private:
  /// Sources and what isn't modelled.
  void read_header() {
    std::string* open = nullptr;
    for (const std::string_view line : lines_) {
      if (!line.starts_with('#')) {
        open = nullptr;
        continue;
      }
      const std::string_view body = line.substr(1), words = trim_blanks(body);
      if (auto [tag, title] = split_tag(words); !tag.empty()) {
        out_.sources.push_back({tag, title});
        open = &out_.sources.back().title;
      } else if (words.starts_with(kNotModelled)) {
        out_.not_modelled.emplace_back(words.substr(kNotModelled.size()));
        open = &out_.not_modelled.back();
      } else if (open != nullptr && body.find_first_not_of(' ') >= kIndent && !words.empty()) {
        *open += " " + std::string(words);
      } else {
        open = nullptr;
      }
    }
  }

  /// Each entry of a list of engines has an origin of its own, which is a source.
  void read_entries(const hw::Field& field, const std::map<std::string, hw::TextPosition>& places) {
    for (size_t i = 0;; ++i) {
      const auto at = places.find(hw::entry_path(field.path, i));
      if (at == places.end()) return;
      read_origin(field, at->second);
    }
  }

  void read_origin(const hw::Field& field, hw::TextPosition at) {
    const std::string_view line = lines_[static_cast<size_t>(at.line - 1)];
    const size_t mark = line.find(" #", static_cast<size_t>(at.column - 1));
    const std::string_view comment =
        mark == std::string_view::npos ? std::string_view{} : trim_blanks(line.substr(mark + 2));
    FieldOrigin out{&field, at.line, std::string(comment), "", {}};
    if (auto [tag, place] = split_tag(comment); !tag.empty()) {
      if (std::ranges::find(out_.sources, tag, &CitedSource::tag) == out_.sources.end())
        errors_.fail(at, fmt::format("{} cites [{}]; no line \"# [{}] title\" says what that is",
                                     field.path, tag, tag));
      out.tag = tag;
      out.comment = place;
    } else if (comment.starts_with(kAssumed)) {
      read_assumed(comment.substr(kAssumed.size()), at, out);
    } else {
      return errors_.fail(at, field.path +
                                  " says nowhere where its value comes from; write \"# [TAG] "
                                  "place\" or \"# assumed LO..HI: why\" behind it");
    }
    out_.origins.push_back(std::move(out));
  }

  void read_assumed(std::string_view text, hw::TextPosition at, FieldOrigin& out) {
    if (is_engine_list(*out.field))
      return errors_.fail(at, out.field->path + " has an entry that is assumed; it needs a source");
    const size_t colon = text.find(':');
    out.comment =
        colon == std::string_view::npos ? "" : std::string(trim_blanks(text.substr(colon + 1)));
    if (out.comment.empty())
      return errors_.fail(at, out.field->path + " is assumed; say why behind a colon");
    out.range = split_range(text.substr(0, colon));
    hw::HwConfig own = out_.hw;
    const auto number = as_number(field_setting(*out.field, own));
    std::vector<double> ends;
    bool named = false;
    for (const std::string& end : out.range) {
      hw::HwConfig hw = out_.hw;
      if (const auto problem = set_text(*out.field, end, hw); problem)
        return errors_.fail(at, "the assumed range: " + *problem);
      if (const std::string broken = broken_rule(hw); !broken.empty())
        return errors_.fail(at, fmt::format("{} = {}, of the assumed range, breaks a rule: {}",
                                            out.field->path, end, broken));
      named |= hw::print_value(*out.field, hw) == hw::print_value(*out.field, own);
      if (number) ends.push_back(as_number(field_setting(*out.field, hw)).value_or(0));
    }
    const bool inside = !ends.empty() && *std::ranges::min_element(ends) <= *number &&
                        *number <= *std::ranges::max_element(ends);
    if (!named && !inside)
      errors_.fail(at, fmt::format("{} is outside of the range that is assumed for it, {}",
                                   out.field->path, fmt::join(out.range, " to ")));
  }

  std::vector<std::string_view> lines_;
  SpecErrors errors_;
  KnownMachine out_;
};

}  // namespace

Result<KnownMachine> parse_known_machine(std::string_view text, const std::string& file) {
  auto hw = hw::parse_hw(text, file);
  if (!hw) return hw.errors();
  const auto tree = hw::parse_yaml(text, file);
  if (!tree) return tree.errors();
  return OriginReader(text, file).read_origins(std::move(*hw), *tree);
}

Result<KnownMachine> load_known_machine(const std::string& path) {
  const auto text = hw::read_yaml(path, "machine description");
  if (!text) return text.errors();
  return parse_known_machine(*text, path);
}

hw::HwConfig with_assumed(const hw::HwConfig& hw, const FieldOrigin& origin,
                          const std::string& text) {
  hw::HwConfig out = hw;
  check(!set_text(*origin.field, text, out), "an assumed range was read before");
  return out;
}

}  // namespace accsim::sim
