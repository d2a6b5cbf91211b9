#include "sim/app/options_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <type_traits>

namespace accsim::sim {
namespace {

/// What help calls a value of each kind; "" where its type says it.
const char* word_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::read_file:
      return "FILE";
    case ValueKind::awaited_store:
      return "STORE";
    case ValueKind::machine:
      return "MACHINE";
    case ValueKind::read_folder:
      return "FOLDER";
    case ValueKind::read_path:
      return "PATH";
    case ValueKind::read_source:
      return "NAME=SOURCE";
    case ValueKind::written_file:
    case ValueKind::written_store:
      return "TARGET";
    case ValueKind::written_folder:
      return "TARGET-DIR";
    case ValueKind::plain:
    case ValueKind::command:
      break;
  }
  return "";
}

/// What help calls a value that goes there.
const char* word_of(const OptionTarget& to) {
  return std::visit(
      [](auto target) -> const char* {
        using Target = std::remove_pointer_t<decltype(target)>;
        if constexpr (std::is_same_v<Target, double>) return "X";
        if constexpr (std::is_integral_v<Target>) return "N";
        return "TEXT";
      },
      to);
}

/// Beyond this a range's upper end is there for the arithmetic, not for people.
constexpr int64_t kTold = 999'999'999;

}  // namespace

bool OptionRow::is_flag() const {
  return std::holds_alternative<bool*>(to) || std::holds_alternative<std::monostate>(to);
}

bool OptionRow::is_repeatable() const {
  return std::holds_alternative<std::vector<std::string>*>(to);
}

std::vector<std::string> OptionRow::spellings() const {
  const size_t comma = name.find(',');
  if (comma == std::string::npos) return {name};
  return {name.substr(0, comma), name.substr(comma + 1)};
}

std::string OptionRow::value_word() const {
  if (is_flag() || is_positional()) return "";
  if (!metavar.empty()) return metavar;
  if (!choices.empty()) return fmt::format("{{{}}}", fmt::join(choices, ","));
  const std::string word = word_of(kind);
  return word.empty() ? word_of(to) : word;
}

std::string OptionRow::label_text() const {
  const std::string out = fmt::format("{}", fmt::join(spellings(), ", "));
  return value_word().empty() ? out : out + " " + value_word();
}

std::string OptionRow::meaning_text() const {
  std::string limits;
  if (range && range->most > kTold)
    limits = fmt::format("at least {}", range->least);
  else if (range)
    limits = fmt::format("{} to {}", range->least, range->most);
  if (!unit.empty()) limits = limits.empty() ? "in " + unit : fmt::format("{} {}", limits, unit);
  return limits.empty() ? about : fmt::format("{} ({})", about, limits);
}

std::string OptionRow::help_sentence() const {
  std::string out = meaning_text();
  if (is_repeatable()) out += " (repeatable)";
  if (required) out += " (required)";
  if (!standard.empty()) out += fmt::format(" (default: {})", standard);
  return out;
}

std::vector<std::string> option_groups(const std::vector<OptionRow>& rows) {
  std::vector<std::string> out;
  for (const OptionRow& row : rows)
    if (!row.is_positional() && std::find(out.begin(), out.end(), row.group) == out.end())
      out.push_back(row.group);
  std::stable_partition(out.begin(), out.end(),
                        [](const std::string& group) { return group != kCommonGroup; });
  return out;
}

}  // namespace accsim::sim
