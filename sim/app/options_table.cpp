#include "sim/app/options_table.h"

#include <fmt/format.h>

#include <algorithm>

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

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  for (size_t from = 0; from <= text.size();) {
    const size_t end = std::min(text.find(at, from), text.size());
    out.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return out;
}

/// Takes ":{a,b}" (IsMember) and ":INT in [1 - 256]" (Range) off a type's name; those are what
/// CLI11 puts behind it.
void read_type(std::string type, OptionRow& row, std::string& limits) {
  if (const size_t at = type.find(":{"); at != std::string::npos) {
    const size_t end = type.find('}', at);
    row.choices = split(type.substr(at + 2, end - at - 2), ',');
    row.kind = row.value = type.substr(at + 1, end - at);
    return;
  }
  if (const size_t at = type.find(" in ["); at != std::string::npos) {
    const size_t dash = type.find(" - ", at), end = type.find(']', at);
    const std::string least = type.substr(at + 5, dash - at - 5);
    const std::string most = type.substr(dash + 3, end - dash - 3);
    limits = most.size() > 9 ? "at least " + least : fmt::format("{} to {}", least, most);
    type = type.substr(0, type.rfind(':', at));
  }
  if (type == "INT" || type == "UINT") type = "N";
  if (type == "FLOAT") type = "X";
  row.kind = row.value = type;
}

OptionRow make_row(const CLI::Option& option) {
  OptionRow row;
  row.about = option.get_description();
  row.group = option.get_group();
  row.positional = option.get_positional();
  row.flag = option.get_items_expected_max() == 0;
  row.required = option.get_required();
  row.repeatable = option.get_items_expected_max() > 1;
  row.standard = option.get_default_str();
  if (row.positional) row.spellings = {option.get_name(true)};
  for (const std::string& name : option.get_snames()) row.spellings.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) row.spellings.push_back("--" + name);
  std::string limits;
  if (!row.flag) read_type(option.get_type_name(), row, limits);
  if (row.positional) row.value.clear();
  if (!limits.empty()) row.about += " (" + limits + ")";
  return row;
}

void add_rows(const std::vector<OptionRow>& rows, bool common, std::string& out) {
  std::string lines;
  for (const OptionRow& row : rows) {
    if (row.spellings.back() == "--help" || (row.group == kCommonGroup) != common) continue;
    lines += fmt::format("| `{}`{}{} | {} | {} |\n", cell(row.label()),
                         row.repeatable ? ", repeatable" : "", row.required ? ", required" : "",
                         cell(row.standard), cell(row.about));
  }
  if (!lines.empty()) out += "\n| option | default | meaning |\n|---|---|---|\n" + lines;
}

void add_command(const CLI::App& app, std::string& out) {
  out += fmt::format("\n## {}\n\n{}\n", command_path(app), summary_of(app));
  add_rows(option_rows(app), false, out);
  for (const CLI::App* sub : commands_of(app)) add_command(*sub, out);
}

}  // namespace

std::string OptionRow::label() const {
  std::string out = fmt::format("{}", fmt::join(spellings, ", "));
  return value.empty() ? out : out + " " + value;
}

std::string OptionRow::sentence() const {
  std::string out = about;
  if (repeatable) out += " (repeatable)";
  if (required) out += " (required)";
  if (!standard.empty()) out += fmt::format(" (default: {})", standard);
  return out;
}

std::vector<OptionRow> option_rows(const CLI::App& app) {
  std::vector<OptionRow> out;
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) out.push_back(make_row(*option));
  return out;
}

std::vector<std::string> option_groups(const std::vector<OptionRow>& rows) {
  std::vector<std::string> out;
  for (const OptionRow& row : rows)
    if (!row.positional && std::find(out.begin(), out.end(), row.group) == out.end())
      out.push_back(row.group);
  std::stable_partition(out.begin(), out.end(),
                        [](const std::string& group) { return group != kCommonGroup; });
  return out;
}

std::string command_path(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : command_path(*parent) + " " + app.get_name();
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string summary_of(const CLI::App& app) {
  const std::string about = app.get_description();
  return about.substr(0, about.find('\n'));
}

std::string options_markdown(const CLI::App& app) {
  std::string out =
      "# Commands and options\n\nMade by `accsim options` from the command line's own parser; a "
      "test compares.\n`-h` and `--help` print the same for each command, and so do the manual "
      "pages (`accsim manual`).\n";
  add_command(app, out);
  out += "\n## Options of every command\n";
  add_rows(option_rows(app), true, out);
  return out + "\n" + app.get_footer() + "\n";
}

}  // namespace accsim::sim
