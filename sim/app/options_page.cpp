#include "sim/app/options_page.h"

#include <fmt/format.h>

namespace accsim::sim {
namespace {

/// Text of a table cell: a pipe would end it, and so would a line's end.
std::string table_cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

void add_rows(const std::vector<OptionRow>& rows, bool common, std::string& out) {
  std::string lines;
  for (const OptionRow& row : rows) {
    if (row.long_name() == "--help" || (row.group == kCommonGroup) != common) continue;
    lines +=
        fmt::format("| `{}`{}{} | {} | {} |\n", table_cell(row.label_text()),
                    row.is_repeatable() ? ", repeatable" : "", row.required ? ", required" : "",
                    table_cell(row.standard), table_cell(row.meaning_text()));
  }
  if (!lines.empty()) out += "\n| option | default | meaning |\n|---|---|---|\n" + lines;
}

void add_command(const Command& command, std::string& out) {
  out += fmt::format("\n## {}\n\n{}\n", command.path(), command.summary());
  add_rows(command.rows(), false, out);
  for (const Command* sub : command.commands()) add_command(*sub, out);
}

}  // namespace

std::string options_markdown(const Command& program) {
  std::string out =
      "# Commands and options\n\n"
      "`accsim options` makes this page from the table that the parser goes by, and a test "
      "compares.\n"
      "`-h` and `--help` print the same for each command, and so do the manual pages (`accsim "
      "manual`).\n";
  add_command(program, out);
  out += "\n## Options of every command\n";
  add_rows(program.rows(), true, out);
  return out + "\n" + program.footer + "\n";
}

}  // namespace accsim::sim
