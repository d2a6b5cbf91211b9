#include "sim/app/manual.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace accsim::sim {
namespace {

/// Text as roff has it: hyphens that can be copied, no escapes, no line that is a request.
std::string roff_text(const std::string& text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    line_begins = c == '\n';
    if (c == '-')
      out += "\\-";
    else if (c == '\\')
      out += "\\e";
    else if (c == '~')
      out += "\\(ti";
    else if (c == '^')
      out += "\\(ha";
    else if (c == '`')
      out += "\\(ga";
    else
      out += c;
  }
  return out;
}

/// An argument of a request.
std::string request_word(const std::string& text) {
  std::string out = "\"";
  for (const char c : roff_text(text)) out += c == '"' ? std::string("\\(dq") : std::string(1, c);
  return out + "\"";
}

std::string joined_path(const Command& command, char with) {
  std::string path = command.path();
  std::replace(path.begin(), path.end(), ' ', with);
  return path;
}

void add_option(const OptionRow& row, std::string& out) {
  std::string names;
  for (const std::string& spelling : row.spellings())
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff_text(spelling));
  const std::string value =
      row.value_word().empty() ? "" : fmt::format(" \\fI{}\\fR", roff_text(row.value_word()));
  out += fmt::format(".TP\n{}{}\n{}\n", names, value, roff_text(row.help_sentence()));
}

void add_synopsis(const Command& command, const std::vector<OptionRow>& rows, std::string& out) {
  out += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR [\\fIOPTIONS\\fR]", roff_text(command.path()));
  for (const OptionRow& row : rows) {
    if (!row.is_positional()) continue;
    const std::string name =
        fmt::format("\\fI{}\\fR{}", roff_text(row.name), row.is_repeatable() ? "..." : "");
    out += row.required ? " " + name : " [" + name + "]";
  }
  out += '\n';
  if (!command.commands().empty())
    out += fmt::format(".br\n\\fB{}\\fR \\fICOMMAND\\fR ...\n", roff_text(command.path()));
}

/// What the end of the help says, and in it the exit codes, which come last.
std::pair<std::string, std::string> split_footer(const Command& command) {
  constexpr std::string_view kExits = "Exit codes: ";
  const std::string footer = command.footer;
  const size_t at = footer.rfind(kExits);
  if (at == std::string::npos) return {footer, ""};
  return {footer.substr(0, at), footer.substr(at + kExits.size())};
}

/// The description's lines; those that are indented are examples.
void add_description(std::string text, std::string& out) {
  out += ".SH DESCRIPTION\n";
  bool example = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string line = text.substr(0, end);
    text.erase(0, end + 1);
    const bool indented = line.starts_with("  ");
    if (indented != example) out += indented ? ".PP\n.nf\n" : ".fi\n";
    example = indented;
    if (!line.empty()) out += roff_text(line) + "\n";
  }
  if (example) out += ".fi\n";
}

void add_commands(const Command& command, std::string& out) {
  if (command.commands().empty()) return;
  out += ".SH COMMANDS\n";
  for (const Command* sub : command.commands())
    out += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", roff_text(joined_path(*sub, '-')),
                       roff_text(sub->summary()));
}

void add_environment(std::string& out) {
  out +=
      ".SH ENVIRONMENT\n"
      ".TP\n\\fBCOLUMNS\\fR\nColumns that output is laid out for; else the terminal's, else 160.\n"
      ".TP\n\\fBNO_COLOR\\fR, \\fBCLICOLOR_FORCE\\fR\n"
      "Not empty: no colours; not 0: colours without a terminal, too.\n"
      ".TP\n\\fBLC_ALL\\fR, \\fBLC_CTYPE\\fR, \\fBLANG\\fR\n"
      "Bars are of block characters when the character set is UTF\\-8.\n";
}

void add_see_also(const Command& command, std::string& out) {
  std::vector<std::string> pages;
  if (command.parent() != nullptr) {
    pages.push_back(joined_path(*command.parent(), '-'));
    for (const Command* sub : command.parent()->commands())
      if (sub != &command) pages.push_back(joined_path(*sub, '-'));
  }
  for (const Command* sub : command.commands()) pages.push_back(joined_path(*sub, '-'));
  out += ".SH SEE ALSO\n";
  for (size_t i = 0; i < pages.size(); ++i)
    out += fmt::format(".BR {} (1){}\n", roff_text(pages[i]), i + 1 < pages.size() ? "," : "");
}

}  // namespace

std::string manual_page(const Command& command, const std::string& version) {
  const std::vector<OptionRow>& rows = command.rows();
  std::string title = joined_path(command, '-');
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string summary = command.summary();
  if (command.parent() == nullptr) summary = summary.substr(summary.find(": ") + 2);
  std::string maker = joined_path(command, ' ');
  maker.insert(std::min(maker.find(' '), maker.size()), " manual");
  std::string out =
      fmt::format(".\\\" Made by `{}`.\n.TH {} 1 \"\" {} {}\n", maker, request_word(title),
                  request_word(version), request_word("accsim manual"));
  out += fmt::format(".SH NAME\n{} \\- {}\n", roff_text(joined_path(command, '-')),
                     roff_text(summary));
  add_synopsis(command, rows, out);
  add_description(command.about() + "\n\n" + split_footer(command).first, out);
  const bool positionals = std::any_of(rows.begin(), rows.end(),
                                       [](const OptionRow& row) { return row.is_positional(); });
  if (positionals) out += ".SH ARGUMENTS\n";
  for (const OptionRow& row : rows)
    if (row.is_positional()) add_option(row, out);
  add_commands(command, out);
  out += ".SH OPTIONS\n";
  for (const std::string& group : option_groups(rows)) {
    if (group != "Options") out += fmt::format(".SS {}\n", request_word(group));
    for (const OptionRow& row : rows)
      if (!row.is_positional() && row.group == group) add_option(row, out);
  }
  if (const std::string exits = split_footer(command).second; !exits.empty())
    out += fmt::format(".SH EXIT STATUS\n{}\n", roff_text(exits));
  if (command.parent() == nullptr) add_environment(out);
  add_see_also(command, out);
  return out;
}

std::string manual_file(const Command& command) { return joined_path(command, '-') + ".1"; }

}  // namespace accsim::sim
