#include "sim/app/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "hw/config/find_machine.h"
#include "hw/config/values.h"
#include "sim/app/paths.h"

namespace accsim::sim {
namespace {

std::vector<std::string> names_of(const std::vector<const Command*>& commands) {
  std::vector<std::string> out;
  for (const Command* command : commands) out.push_back(command->name());
  return out;
}

std::vector<std::string> option_spellings(const Command& command) {
  std::vector<std::string> out;
  for (const OptionRow& row : command.rows())
    if (!row.is_positional())
      for (const std::string& spelling : row.spellings()) out.push_back(spelling);
  return out;
}

/// Commands that have exactly this option.
void find_owners(const Command& command, const std::string& option, std::vector<std::string>& out) {
  for (const std::string& spelling : option_spellings(command))
    if (spelling == option) out.push_back(command.path());
  for (const Command* sub : command.commands()) find_owners(*sub, option, out);
}

std::string word_advice(const Command& program, const Command& command, const std::string& word) {
  if (!word.starts_with('-')) {
    const auto close = hw::nearest_word(word, names_of(command.commands()));
    return close ? fmt::format("; did you mean the command {}?", *close) : "";
  }
  const std::string option = word.substr(0, word.find('='));
  std::vector<std::string> owners;
  find_owners(program, option, owners);
  if (!owners.empty()) return fmt::format("; it is an option of {}", fmt::join(owners, ", "));
  const auto close = hw::nearest_word(option, option_spellings(command));
  return close ? fmt::format("; did you mean {}?", *close) : "";
}

/// What was probably meant by a file that isn't there; "" when nothing is near.
std::string meant_text(const Command& command, ValueKind kind, const std::string& path) {
  const bool bare = path.find('/') == std::string::npos;
  if (kind == ValueKind::machine) {
    const std::string text = hw::missing_machine(path, machine_folder());
    if (!text.empty()) return text;
  } else if (const auto close = hw::near_file(path)) {
    return fmt::format("no such file; did you mean {}?", *close);
  }
  if (!bare) return "";
  const auto close = hw::nearest_word(path, names_of(command.commands()));
  return close ? fmt::format("no such file; did you mean the command {}?", *close) : "";
}

bool is_read(ValueKind kind) {
  return kind == ValueKind::read_file || kind == ValueKind::read_folder ||
         kind == ValueKind::read_path || kind == ValueKind::machine;
}

void check_misspelt(const Command& command, Errors& errors) {
  for (const OptionRow& row : command.rows()) {
    if (!is_read(row.kind)) continue;
    for (const std::string& path : row.given) {
      if (!hw::is_missing(path)) continue;
      const std::string text = meant_text(command, row.kind, path);
      if (!text.empty()) errors.push_back({Errc::io, text, path});
    }
  }
  for (const Command* sub : command.commands())
    if (sub->is_chosen()) check_misspelt(*sub, errors);
}

/// A mistyped command is taken for the model or the spec, and what follows it isn't known: the
/// command, then.
std::vector<std::string> mistaken_for_files(const Command& command,
                                            std::vector<std::string> words) {
  for (const OptionRow& row : command.rows())
    if (row.is_positional())
      for (const std::string& given : row.given)
        if (hw::is_missing(given) && hw::nearest_word(given, names_of(command.commands())))
          return {given};
  return words;
}

}  // namespace

Error usage_error(const Command& program, const ParseOutcome& outcome) {
  const Command& command = program.innermost_command();
  std::vector<std::string> words = outcome.unknown;
  const auto is_option = [](const std::string& word) { return word.starts_with('-'); };
  if (std::any_of(words.begin(), words.end(), is_option))  // the others are their values
    std::erase_if(words, [&](const std::string& word) { return !is_option(word); });
  if (!words.empty() && !is_option(words.front()))
    words = mistaken_for_files(command, std::move(words));
  std::string text;
  for (const std::string& word : words) {
    if (word == "--") continue;
    text += fmt::format("{}{} isn't known to {}{}", text.empty() ? "" : "; ", word, command.path(),
                        word_advice(program, command, word));
  }
  if (text.empty()) text = outcome.problem;
  return {Errc::usage, fmt::format("{} (see {} --help)", text, command.path()), ""};
}

Status check_misspelt_files(const Command& program) {
  Errors errors;
  check_misspelt(program, errors);
  if (!errors.empty()) return errors;
  return ok();
}

}  // namespace accsim::sim
