#include "sim/app/options_table.h"

#include <fmt/format.h>

namespace accsim::sim {
namespace {

/// Text of a table cell: a pipe would end it, and so would a line's end.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

/// "-q,--quiet", "--bind NAME=N ...", or the name of a positional.
std::string spelling(const CLI::Option& option) {
  const bool flag = option.get_items_expected_max() == 0;
  std::string out = "`" + option.get_name(option.get_positional(), true);
  if (!flag && !option.get_positional()) out += " " + option.get_type_name();
  out += "`";
  if (option.get_items_expected_max() > 1) out += ", repeatable";
  if (option.get_required()) out += ", required";
  return cell(out);
}

void add_options(const CLI::App& app, std::string& out) {
  std::string rows;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty() || option == app.get_help_ptr()) continue;
    rows += fmt::format("| {} | {} | {} |\n", spelling(*option), cell(option->get_default_str()),
                        cell(option->get_description()));
  }
  if (!rows.empty()) out += "\n| option | default | meaning |\n|---|---|---|\n" + rows;
}

void add_command(const CLI::App& app, const std::string& path, std::string& out) {
  const auto subcommands = app.get_subcommands([](const CLI::App*) { return true; });
  const std::string about = app.get_description();
  out += fmt::format("\n## {}\n\n{}\n", path, about.substr(0, about.find('\n')));
  add_options(app, out);
  for (const CLI::App* sub : subcommands) add_command(*sub, path + " " + sub->get_name(), out);
}

}  // namespace

std::string options_markdown(const CLI::App& app) {
  std::string out =
      "# Commands and options\n\nMade by `accsim options` from the command line's own parser; a "
      "test compares.\n`-h` and `--help` print the same for each command.\n";
  add_command(app, app.get_name(), out);
  return out + "\n" + app.get_footer() + "\n";
}

}  // namespace accsim::sim
