#include "sim/app/parser.h"

#include <CLI/CLI.hpp>
#include <type_traits>
#include <utility>

namespace accsim::sim {
namespace {

/// A command beside the library's form of it, and its rows beside theirs.
struct Binding {
  Command* command;
  CLI::App* app;
  std::vector<CLI::Option*> options;  ///< of each row; nullptr: the library answers it itself
};

CLI::Option* bind_target(const OptionRow& row, CLI::App& app) {
  return std::visit(
      [&](auto target) -> CLI::Option* {
        using Target = decltype(target);
        if constexpr (std::is_same_v<Target, std::monostate>)
          return nullptr;
        else if constexpr (std::is_same_v<Target, bool*>)
          return app.add_flag(row.name, *target, row.about);
        else
          return app.add_option(row.name, *target, row.about);
      },
      row.to);
}

void add_checks(const OptionRow& row, CLI::Option& option) {
  if (!row.choices.empty()) option.check(CLI::IsMember(row.choices));
  if (row.range && std::holds_alternative<double*>(row.to))
    option.check(
        CLI::Range(static_cast<double>(row.range->least), static_cast<double>(row.range->most)));
  else if (row.range)
    option.check(CLI::Range(row.range->least, row.range->most));
  if (row.check != nullptr) option.check(row.check);
}

using MachineFile = std::function<std::string(const std::string&)>;

CLI::Option* bind_row(const OptionRow& row, CLI::App& app, const MachineFile& machine_file) {
  CLI::Option* const option = bind_target(row, app);
  if (option == nullptr) return nullptr;
  if (row.required) option->required();
  if (!row.needs.empty()) option->needs(app.get_option(row.needs));
  if (row.is_flag()) return option;
  if (!row.value_word().empty() && row.choices.empty()) option->type_name(row.value_word());
  if (row.is_repeatable() && !row.is_positional()) option->allow_extra_args(false);
  add_checks(row, *option);
  if (row.kind == ValueKind::machine) option->transform(machine_file);
  return option;
}

void bind_command(Command& command, CLI::App& app, const MachineFile& machine_file,
                  std::vector<Binding>& out) {
  Binding binding{&command, &app, {}};
  if (!command.version.empty()) app.set_version_flag("--version", command.version);
  for (const OptionRow& row : command.rows())
    binding.options.push_back(bind_row(row, app, machine_file));
  out.push_back(std::move(binding));
  const std::vector<Command*> commands = command.commands();
  if (!commands.empty()) app.require_subcommand(command.needs_command ? 1 : 0, 1);
  for (Command* sub : commands)
    bind_command(*sub, *app.add_subcommand(sub->name()), machine_file, out);
}

/// What the library found, also when it didn't get to the end.
void take_results(const std::vector<Binding>& all) {
  for (const Binding& binding : all) {
    if (binding.app->parsed() || binding.command->parent() == nullptr) binding.command->choose();
    for (size_t i = 0; i < binding.options.size(); ++i)
      if (binding.options[i] != nullptr)
        binding.command->rows()[i].given = binding.options[i]->results();
  }
}

}  // namespace

ParseOutcome parse_command_line(Command& program, const std::vector<std::string>& words,
                                const MachineFile& machine_file) {
  CLI::App app;
  app.name(program.name());
  std::vector<Binding> all;
  bind_command(program, app, machine_file, all);
  ParseOutcome out;
  try {
    // The library takes them off the end.
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    take_results(all);
  } catch (const CLI::CallForHelp&) {
    take_results(all);
    out.wants_help = true;
  } catch (const CLI::CallForVersion&) {
    out.wants_version = true;
  } catch (const CLI::ParseError& e) {
    take_results(all);
    out.problem = e.what();
    out.unknown = app.remaining(true);
  }
  return out;
}

}  // namespace accsim::sim
