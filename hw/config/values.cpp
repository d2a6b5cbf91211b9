#include "hw/config/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "hw/config/engine_lists.h"
#include "hw/config/mode_list.h"
#include "sim/base/edit_distance.h"

namespace accsim::hw {
namespace {

using Problem = std::optional<std::string>;

bool is_digits(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// A decimal number as JSON writes it: no leading zeros (octal to some readers), no inf, no nan.
struct Decimal {
  bool negative = false, exponent = false;
  std::string_view whole, fraction;
};
/// Splits `s` into its parts; false when it isn't a decimal number.
bool split_decimal(std::string_view s, Decimal& out) {
  if (!s.empty() && s[0] == '-') {
    out.negative = true;
    s.remove_prefix(1);
  }
  if (const size_t e = s.find_first_of("eE"); e != std::string_view::npos) {
    std::string_view power = s.substr(e + 1);
    if (!power.empty() && (power[0] == '+' || power[0] == '-')) power.remove_prefix(1);
    if (!is_digits(power)) return false;
    out.exponent = true;
    s = s.substr(0, e);
  }
  if (const size_t dot = s.find('.'); dot != std::string_view::npos) {
    out.fraction = s.substr(dot + 1);
    if (!is_digits(out.fraction)) return false;
    s = s.substr(0, dot);
  }
  out.whole = s;
  return is_digits(s) && (s.size() == 1 || s[0] != '0');
}

bool looks_like_number(std::string_view s) {
  Decimal ignored;
  return split_decimal(s, ignored);
}

bool is_truth_word(std::string_view s) {
  std::string lower;
  for (const char c : s) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower == "true" || lower == "false";
}

Problem wrong_type(const Field& field, const YamlNode& node) {
  std::string found;
  switch (node.kind) {
    case YamlNode::Kind::null:
      found = "has no value";
      break;
    case YamlNode::Kind::sequence:
      found = "is a list";
      break;
    case YamlNode::Kind::map:
      found = "is a section with keys of its own";
      break;
    case YamlNode::Kind::scalar:
      found = fmt::format("is {}{}", quoted_text(node.text), node.quoted ? " in quotes" : "");
      break;
  }
  return fmt::format("{} {}; it must be a {} ({})", field.path, found, type_text(field),
                     range_text(field));
}

Problem out_of_range(const Field& field, const YamlNode& node) {
  return fmt::format("{} is {}, out of range; it must be {}{}{}", field.path, node.text,
                     range_text(field), field.unit.empty() ? "" : " ", field.unit);
}

bool is_plain_scalar(const YamlNode& node) {
  return node.kind == YamlNode::Kind::scalar && !node.quoted;
}

Problem read_whole(const Field& field, const YamlNode& node, int64_t& out) {
  Decimal parts;
  if (!is_plain_scalar(node) || !split_decimal(node.text, parts) || parts.exponent ||
      !parts.fraction.empty()) {
    return wrong_type(field, node);
  }
  int64_t value = 0;
  const char* end = node.text.data() + node.text.size();
  const auto parsed = std::from_chars(node.text.data(), end, value);
  const bool fits = parsed.ec == std::errc{} && static_cast<double>(value) >= field.min &&
                    static_cast<double>(value) <= field.max;
  if (!fits) return out_of_range(field, node);
  out = value;
  return std::nullopt;
}

Problem read_decimal(const Field& field, const YamlNode& node, double& out) {
  Decimal parts;
  if (!is_plain_scalar(node) || !split_decimal(node.text, parts)) return wrong_type(field, node);
  double value = 0;
  const char* end = node.text.data() + node.text.size();
  const auto parsed = std::from_chars(node.text.data(), end, value);
  if (parsed.ec != std::errc{} || value < field.min || value > field.max)
    return out_of_range(field, node);
  out = value == 0 ? 0 : value;  // no negative zero
  return std::nullopt;
}

/// From the decimal text, so that the value is exact: 102.4 is 102400 thousandths.
Problem read_rate(const Field& field, const YamlNode& node, ByteRate& out) {
  Decimal parts;
  if (!is_plain_scalar(node) || !split_decimal(node.text, parts) || parts.exponent)
    return wrong_type(field, node);
  if (parts.fraction.size() > 3) {
    return fmt::format("{} is {}; at most 3 decimals, rates are exact to a thousandth of a byte",
                       field.path, quoted_text(node.text));
  }
  std::string digits(parts.whole);
  digits += parts.fraction;
  digits.append(3 - parts.fraction.size(), '0');
  int64_t milli = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), milli);
  const double value = static_cast<double>(milli) / 1000;
  if (parts.negative || parsed.ec != std::errc{} || value < field.min || value > field.max)
    return out_of_range(field, node);
  out.milli = milli;
  return std::nullopt;
}

Problem read_name(const Field& field, const YamlNode& node, std::string& out) {
  if (node.kind != YamlNode::Kind::scalar) return wrong_type(field, node);
  if (!node.quoted && (looks_like_number(node.text) || is_truth_word(node.text))) {
    return fmt::format("{} is {}, which YAML doesn't take for text; put it in quotes", field.path,
                       quoted_text(node.text));
  }
  const auto allowed = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kNamePunctuation.find(c) != std::string_view::npos;
  };
  const bool fine = !node.text.empty() && node.text.size() <= kNameMax &&
                    std::all_of(node.text.begin(), node.text.end(), allowed);
  if (!fine) {
    return fmt::format("{} is {}; it must be {}", field.path, quoted_text(node.text),
                       range_text(field));
  }
  out = node.text;
  return std::nullopt;
}

/// Finds `word` among the field's choices.
Problem read_choice(const Field& field, const YamlNode& node, size_t& out) {
  if (node.kind != YamlNode::Kind::scalar) return wrong_type(field, node);
  std::string_view word = node.text;
  for (const Alias& a : kTypeAliases) {
    if (word == a.alias) word = a.choice;
  }
  const auto found = std::find(field.choices.begin(), field.choices.end(), word);
  if (found == field.choices.end()) {
    const auto close = nearest_word(word, field.choices);
    return fmt::format("{} is {}; {}valid: {}", field.path, quoted_text(node.text),
                       close ? fmt::format("did you mean \"{}\"? ", *close) : "",
                       range_text(field));
  }
  out = static_cast<size_t>(found - field.choices.begin());
  return std::nullopt;
}

DType dtype_named(std::string_view word) {
  for (int64_t i = 0; const auto t = dtype_from_onnx(i); ++i) {
    if (name(*t) == word) return *t;
  }
  check(false, "the field table names an unknown type");
  return DType::undefined;
}

Problem read_dataflows(const Field& field, const YamlNode& node, std::vector<Dataflow>& out) {
  if (node.kind != YamlNode::Kind::sequence) return wrong_type(field, node);
  std::vector<Dataflow> flows;
  for (const YamlNode& item : node.items) {
    size_t choice = 0;
    if (auto problem = read_choice(field, item, choice)) return problem;
    flows.push_back(static_cast<Dataflow>(choice));
  }
  out = std::move(flows);
  return std::nullopt;
}

/// The first thing that is wrong with a list of modes.
Problem read_modes(const Field& field, const YamlNode& node, std::vector<TypeMode>& out) {
  ModeList found = read_mode_list(field.path, node);
  if (!found.errors.empty()) return std::move(found.errors.front().message);
  out = std::move(found.modes);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> read_value(const Field& field, const YamlNode& node, HwConfig& hw) {
  return std::visit(
      FieldCases{
          [&](const Member<int64_t>& m) { return read_whole(field, node, m.of(hw)); },
          [&](const Member<double>& m) { return read_decimal(field, node, m.of(hw)); },
          [&](const Member<DerivableNumber>& m) {
            double value = 0;
            auto problem = read_decimal(field, node, value);
            if (!problem) m.of(hw) = value;
            return problem;
          },
          [&](const Member<ByteRate>& m) { return read_rate(field, node, m.of(hw)); },
          [&](const Member<std::string>& m) { return read_name(field, node, m.of(hw)); },
          [&](const Member<DType>& m) {
            size_t choice = 0;
            auto problem = read_choice(field, node, choice);
            if (!problem) m.of(hw) = dtype_named(field.choices[choice]);
            return problem;
          },
          [&](const Member<std::vector<Dataflow>>& m) {
            return read_dataflows(field, node, m.of(hw));
          },
          [&](const Member<std::vector<TypeMode>>& m) { return read_modes(field, node, m.of(hw)); },
          [&]<EngineEntry T>(const Member<std::vector<T>>&) -> Problem {
            ListReading found = read_engine_list(field, node, hw);
            if (found.errors.empty()) return std::nullopt;
            return std::move(found.errors.front().message);
          },
          [&]<class Enum>(const Member<Enum>& m) {
            size_t choice = 0;
            auto problem = read_choice(field, node, choice);
            if (!problem) m.of(hw) = static_cast<Enum>(choice);
            return problem;
          },
      },
      field.target);
}

std::string print_value(const Field& field, HwConfig& hw) {
  return std::visit(
      FieldCases{
          [&](const Member<int64_t>& m) { return fmt::format("{}", m.of(hw)); },
          [&](const Member<double>& m) { return fmt::format("{}", m.of(hw)); },
          [&](const Member<DerivableNumber>& m) { return fmt::format("{}", m.of(hw).value); },
          [&](const Member<ByteRate>& m) {
            const int64_t milli = m.of(hw).milli;
            std::string text = fmt::format("{}.{:03}", milli / 1000, milli % 1000);
            text.erase(text.find_last_not_of('0') + 1);
            if (text.back() == '.') text.pop_back();
            return text;
          },
          [&](const Member<std::string>& m) { return fmt::format("\"{}\"", m.of(hw)); },
          [&](const Member<DType>& m) { return std::string(name(m.of(hw))); },
          [&](const Member<std::vector<Dataflow>>& m) {
            std::vector<std::string_view> words;
            for (const Dataflow d : m.of(hw)) words.push_back(name(d));
            return fmt::format("[{}]", fmt::join(words, ", "));
          },
          [&](const Member<std::vector<TypeMode>>& m) { return print_modes(m.of(hw)); },
          [&]<EngineEntry T>(const Member<std::vector<T>>&) {
            return print_engine_list(field, hw);
          },
          [&]<class Enum>(const Member<Enum>& m) {
            return field.choices[static_cast<size_t>(m.of(hw))];
          },
      },
      field.target);
}

std::optional<std::string> nearest_word(std::string_view word,
                                        const std::vector<std::string>& candidates) {
  constexpr size_t kLongest = 64;  // longer words are no slips, and cost time squared
  if (word.size() > kLongest) return std::nullopt;
  std::optional<std::string> best;
  size_t best_distance = word.size() / 3 + 2;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace accsim::hw
