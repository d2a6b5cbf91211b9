#include "sim/app/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "sim/app/output.h"
#include "sim/base/parse_number.h"
#include "sim/report/format.h"

namespace accsim::sim {
namespace {

/// A variable of the environment; "" when it isn't set.
std::string_view environment_text(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

std::optional<size_t> asked_columns() {
  const auto columns = parse_number<size_t>(environment_text("COLUMNS"));
  return columns == size_t{0} ? std::nullopt : columns;
}

}  // namespace

void Console::add_to(Command& command) {
  command.add(
      kCommonGroup,
      {{.name = "--color",
        .to = &color_,
        .about = "Colours: auto, always or never. auto goes by NO_COLOR, CLICOLOR_FORCE and the "
                 "terminal",
        .choices = {"auto", "always", "never"},
        .shows_default = true},
       {.name = "--verbose",
        .to = &verbose_,
        .about =
            "Leave nothing out of tables. Commands that cost or run networks also say on stderr "
            "which files they read and how long each step takes"}});
  for (Command* sub : command.commands()) add_to(*sub);
}

size_t Console::width() {
  if (const auto columns = asked_columns()) return std::max(*columns, kNarrowest);
  winsize size{};
  const bool known = isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return known && size.ws_col > 0 ? std::max<size_t>(size.ws_col, kNarrowest) : kNoTerminal;
}

bool Console::colour() const {
  if (color_ != "auto") return color_ == "always";
  if (!environment_text("NO_COLOR").empty()) return false;
  if (const std::string_view force = environment_text("CLICOLOR_FORCE");
      !force.empty() && force != "0")
    return true;
  return isatty(STDOUT_FILENO) != 0 && environment_text("TERM") != "dumb";
}

bool Console::unicode() {
  // The first that is set says it, as for setlocale(); asking that would change the program's.
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string text(environment_text(name));
    if (text.empty()) continue;
    return strcasestr(text.c_str(), "utf-8") != nullptr ||
           strcasestr(text.c_str(), "utf8") != nullptr;
  }
  return false;
}

int print_wrapped(const std::string& text) {
  return print_out(wrap_lines(printable(text, "\n\t"), Console::width()));
}

}  // namespace accsim::sim
