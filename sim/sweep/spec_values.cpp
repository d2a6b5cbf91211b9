#include "sim/sweep/spec_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>

#include "hw/config/values.h"
#include "sim/base/parse_number.h"

namespace accsim::sim {

std::string path_beside(const std::string& file, const std::string& path) {
  return (std::filesystem::path(file).parent_path() / path).lexically_normal().string();
}

std::optional<double> read_number(const hw::YamlNode& node, std::string_view what,
                                  SpecErrors& errors) {
  const auto v = parse_number<double>(node.text);
  if (node.kind == hw::YamlNode::Kind::scalar && !node.quoted && v && std::isfinite(*v)) return v;
  errors.fail(node.at,
              fmt::format("{} is {}; it must be a number", what, hw::quoted_text(node.text)));
  return std::nullopt;
}

int64_t read_whole(const hw::YamlEntry& e, double min, double max, SpecErrors& errors) {
  const auto v = read_number(e.value, e.key, errors);
  if (!v) return 1;
  if (*v == std::floor(*v) && *v >= min && *v <= max) return static_cast<int64_t>(*v);
  errors.fail(e.value.at, fmt::format("{} is {}; it must be a whole number of {:.0f}..{:.0f}",
                                      e.key, e.value.text, min, max));
  return 1;
}

std::optional<size_t> read_choice(const hw::YamlEntry& e, std::span<const std::string_view> words,
                                  SpecErrors& errors) {
  const auto at = std::ranges::find(words, e.value.text);
  if (e.value.kind == hw::YamlNode::Kind::scalar && at != words.end())
    return static_cast<size_t>(at - words.begin());
  errors.fail(e.value.at, fmt::format("{} is {}; valid: {}", e.key, hw::quoted_text(e.value.text),
                                      fmt::join(words, ", ")));
  return std::nullopt;
}

namespace {

/// The word of a command line that says the same. Numbers may be 1e6 here.
std::string word_of(const hw::YamlNode& node, bool is_number) {
  if (node.kind == hw::YamlNode::Kind::sequence) return "a list";
  if (node.kind == hw::YamlNode::Kind::map) return "a section";
  if (!is_number) return node.text;
  SpecErrors ignored("");
  const std::optional<double> v = read_number(node, "", ignored);
  if (v && *v == std::floor(*v) && std::abs(*v) < 0x1p53) return fmt::format("{:.0f}", *v);
  return node.quoted ? hw::quoted_text(node.text) : node.text;
}

}  // namespace

void take_key(const CostingOption& option, const hw::YamlEntry& e, CostingOptions& to,
              SpecErrors& errors) {
  std::string word = word_of(e.value, option.is_number() || option.is_assignment());
  if (option.is_assignment()) word = e.key + "=" + word;
  for (const Error& error : take_option(option, {word}, to))
    errors.fail(e.value.at, fmt::format("{}: {}", option.key(), error.message));
}

bool read_flag(const hw::YamlEntry& e, SpecErrors& errors) {
  bool out = false;
  read_word(e, std::array<std::string_view, 2>{"false", "true"}, out, errors);
  return out;
}

namespace {

/// What to write instead of a key that isn't known; empty when nothing is near.
std::string key_advice(const std::string& key, const std::vector<std::string>& known) {
  struct Renamed {
    std::string_view was, now;
  };
  static constexpr std::array<Renamed, 1> kRenamed = {{{"mapping", "objective"}}};
  for (const Renamed& r : kRenamed)
    if (key == r.was && std::find(known.begin(), known.end(), r.now) != known.end())
      return fmt::format("it is called \"{}\" now; ", r.now);
  const auto close = hw::nearest_word(key, known);
  return close ? fmt::format("did you mean \"{}\"? ", *close) : "";
}

}  // namespace

void read_section(const hw::YamlNode& node, hw::TextPosition at, std::string_view what,
                  const std::vector<std::string>& known, SpecErrors& errors,
                  const std::function<void(const hw::YamlEntry&)>& entry) {
  if (node.kind != hw::YamlNode::Kind::map) {
    errors.fail(at,
                fmt::format("{} must be a section with keys of {}", what, fmt::join(known, ", ")));
    return;
  }
  std::set<std::string> seen;
  for (const hw::YamlEntry& e : node.entries) {
    if (!seen.insert(e.key).second) {
      errors.fail(e.at, fmt::format("{} has the key {} twice", what, hw::quoted_text(e.key)));
    } else if (std::find(known.begin(), known.end(), e.key) == known.end()) {
      errors.fail(e.at, fmt::format("{} has no key {}; {}valid: {}", what, hw::quoted_text(e.key),
                                    key_advice(e.key, known), fmt::join(known, ", ")));
    } else {
      entry(e);
    }
  }
}

}  // namespace accsim::sim
