#include "sim/app/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/app/console.h"
#include "sim/report/format.h"

namespace accsim::sim {
namespace {

constexpr size_t kWidest = 100;
constexpr size_t kLabel = 28;  // column of the sentences

/// "  --json TARGET      Write ...", the sentence in a column of its own; below the label when that
/// is longer.
void add_entry(const std::string& label, const std::string& sentence, size_t width,
               std::string& out) {
  std::string line = "  " + label;
  if (line.size() + 2 > kLabel) {
    out += wrap_lines(line, width, 6) + "\n";
    line.clear();
  }
  for (const std::string& part : wrap_words(sentence, width - kLabel)) {
    out += fmt::format("{:<{}}{}\n", line, kLabel, part);
    line.clear();
  }
}

std::string usage_text(const Command& command) {
  std::string out = "Usage: " + command.path() + " [OPTIONS]";
  for (const OptionRow& row : command.rows()) {
    if (!row.is_positional()) continue;
    const std::string name = row.name + (row.is_repeatable() ? "..." : "");
    out += row.required ? " " + name : " [" + name + "]";
  }
  if (command.commands().empty()) return out;
  if (command.needs_command) return out + " COMMAND ...";
  return out + fmt::format("\n       {} COMMAND ...", command.path());
}

void add_commands(const Command& command, size_t width, std::string& out) {
  if (command.commands().empty()) return;
  out += "\nCommands:\n";
  for (const Command* sub : command.commands()) add_entry(sub->name(), sub->summary(), width, out);
}

}  // namespace

std::string help_text(const Command& command) {
  const size_t width = std::min(Console::width(), kWidest);
  const std::vector<OptionRow>& rows = command.rows();
  std::string out = wrap_lines(command.about(), width, 0);
  if (!out.ends_with('\n')) out += '\n';
  out += "\n" + wrap_lines(usage_text(command), width) + "\n";
  const bool positionals = std::any_of(rows.begin(), rows.end(),
                                       [](const OptionRow& row) { return row.is_positional(); });
  if (positionals) out += "\nArguments:\n";
  for (const OptionRow& row : rows)
    if (row.is_positional()) add_entry(row.label_text(), row.help_sentence(), width, out);
  add_commands(command, width, out);
  for (const std::string& group : option_groups(rows)) {
    out += "\n" + group + ":\n";
    for (const OptionRow& row : rows) {
      if (row.is_positional() || row.group != group) continue;
      add_entry(row.label_text(), row.help_sentence(), width, out);
    }
  }
  if (!command.footer.empty()) out += "\n" + wrap_lines(command.footer, width, 0) + "\n";
  return out;
}

}  // namespace accsim::sim
