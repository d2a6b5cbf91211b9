#include "sim/app/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "hw/config/find_machine.h"
#include "hw/config/values.h"
#include "sim/app/file_options.h"
#include "sim/app/options_table.h"
#include "sim/app/paths.h"

namespace accsim::sim {
namespace {

/// The command that was meant: the last one that was named.
const CLI::App* innermost(const CLI::App* app) {
  const auto named = app->get_subcommands();
  return named.empty() ? app : innermost(named.back());
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> out;
  for (const CLI::App* sub : commands) out.push_back(sub->get_name());
  return out;
}

std::vector<std::string> spellings(const CLI::App& app) {
  std::vector<std::string> out;
  for (const OptionRow& row : option_rows(app))
    if (!row.positional) out.insert(out.end(), row.spellings.begin(), row.spellings.end());
  return out;
}

/// Commands that have exactly this option.
void find_owners(const CLI::App& app, const std::string& option, std::vector<std::string>& out) {
  for (const std::string& spelling : spellings(app))
    if (spelling == option) out.push_back(command_path(app));
  for (const CLI::App* sub : commands_of(app)) find_owners(*sub, option, out);
}

std::string advice(const CLI::App& app, const CLI::App& command, const std::string& word) {
  if (!word.starts_with('-')) {
    const auto close = hw::nearest(word, names_of(commands_of(command)));
    return close ? fmt::format("; did you mean the command {}?", *close) : "";
  }
  const std::string option = word.substr(0, word.find('='));
  std::vector<std::string> owners;
  find_owners(app, option, owners);
  if (!owners.empty()) return fmt::format("; it is an option of {}", fmt::join(owners, ", "));
  const auto close = hw::nearest(option, spellings(command));
  return close ? fmt::format("; did you mean {}?", *close) : "";
}

/// What was probably meant by a file that isn't there; "" when nothing is near.
std::string meant(const CLI::App& app, const std::string& kind, const std::string& path) {
  const bool bare = path.find('/') == std::string::npos;
  if (kind == kMachine) {
    const std::string text = hw::missing_machine(path, machine_folder());
    if (!text.empty()) return text;
  } else if (const auto close = hw::near_file(path)) {
    return fmt::format("no such file; did you mean {}?", *close);
  }
  if (!bare) return "";
  const auto command = hw::nearest(path, names_of(commands_of(app)));
  return command ? fmt::format("no such file; did you mean the command {}?", *command) : "";
}

void check_misspelt(const CLI::App& app, Errors& errors) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    if (type != kReadFile && type != kReadFolder && type != kMachine) continue;
    for (const std::string& path : option->results()) {
      if (!hw::is_missing(path)) continue;
      const std::string text = meant(app, type, path);
      if (!text.empty()) errors.push_back({Errc::io, text, path});
    }
  }
  for (const CLI::App* sub : app.get_subcommands()) check_misspelt(*sub, errors);
}

/// A mistyped command is taken for the model or the spec, and what follows it isn't known: the
/// command, then.
std::vector<std::string> mistaken_for_files(const CLI::App& app, std::vector<std::string> words) {
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional())
      for (const std::string& given : option->results())
        if (hw::is_missing(given) && hw::nearest(given, names_of(commands_of(app)))) return {given};
  return words;
}

}  // namespace

Error usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = *innermost(&app);
  const std::string path = command_path(command);
  std::vector<std::string> words = app.remaining(true);
  const auto is_option = [](const std::string& word) { return word.starts_with('-'); };
  if (std::any_of(words.begin(), words.end(), is_option))  // the others are their values
    std::erase_if(words, [&](const std::string& word) { return !is_option(word); });
  if (!words.empty() && !is_option(words.front()))
    words = mistaken_for_files(command, std::move(words));
  std::string text;
  for (const std::string& word : words) {
    if (word == "--") continue;
    text += fmt::format("{}{} isn't known to {}{}", text.empty() ? "" : "; ", word, path,
                        advice(app, command, word));
  }
  if (text.empty()) text = error.what();
  return {Errc::usage, fmt::format("{} (see {} --help)", text, path), ""};
}

Status check_misspelt_files(const CLI::App& app) {
  Errors errors;
  check_misspelt(app, errors);
  if (!errors.empty()) return errors;
  return ok();
}

void accept_machine_names(CLI::App& app) {
  for (CLI::Option* option : app.get_options())
    if (option->get_type_name() == kMachine)
      option->transform(
          [](const std::string& given) { return hw::machine_file(given, machine_folder()); });
  for (CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    accept_machine_names(*sub);
}

}  // namespace accsim::sim
