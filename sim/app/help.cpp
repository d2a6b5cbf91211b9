#include "sim/app/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/app/console.h"
#include "sim/app/options_table.h"
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

std::string usage(const CLI::App& app, const std::vector<OptionRow>& rows) {
  std::string out = "Usage: " + command_path(app) + " [OPTIONS]";
  for (const OptionRow& row : rows) {
    if (!row.positional) continue;
    const std::string name = row.spellings.front() + (row.repeatable ? "..." : "");
    out += row.required ? " " + name : " [" + name + "]";
  }
  if (commands_of(app).empty()) return out;
  const bool must = app.get_require_subcommand_min() > 0;
  if (must) return out + " COMMAND ...";
  return out + fmt::format("\n       {} COMMAND ...", command_path(app));
}

void add_commands(const CLI::App& app, size_t width, std::string& out) {
  if (commands_of(app).empty()) return;
  out += "\nCommands:\n";
  for (const CLI::App* sub : commands_of(app))
    add_entry(sub->get_name(), summary_of(*sub), width, out);
}

}  // namespace

std::string HelpFormatter::make_help(const CLI::App* app, std::string /*name*/,
                                     CLI::AppFormatMode /*mode*/) const {
  const size_t width = std::min(Console::width(), kWidest);
  const std::vector<OptionRow> rows = option_rows(*app);
  std::string out = wrap_lines(app->get_description(), width, 0);
  if (!out.ends_with('\n')) out += '\n';
  out += "\n" + wrap_lines(usage(*app, rows), width) + "\n";
  const bool positionals =
      std::any_of(rows.begin(), rows.end(), [](const OptionRow& row) { return row.positional; });
  if (positionals) out += "\nArguments:\n";
  for (const OptionRow& row : rows)
    if (row.positional) add_entry(row.label(), row.sentence(), width, out);
  add_commands(*app, width, out);
  for (const std::string& group : option_groups(rows)) {
    out += "\n" + group + ":\n";
    for (const OptionRow& row : rows) {
      if (row.positional || row.group != group) continue;
      add_entry(row.label(), row.sentence(), width, out);
    }
  }
  const std::string footer = app->get_footer();
  if (!footer.empty()) out += "\n" + wrap_lines(footer, width, 0) + "\n";
  return out;
}

}  // namespace accsim::sim
