#pragma once
#include <cstddef>
#include <string>

#include "sim/app/command.h"

namespace accsim::sim {

/// What every command is given by its options --color and --verbose and by the terminal.
class Console {
 public:
  /// Adds the options to the program and to all of its commands (in a group of their own); called
  /// when all commands are there.
  void add_to(Command& command);

  /// Columns of standard output: COLUMNS when it is a number, else the terminal's, else
  /// kNoTerminal. At least kNarrowest.
  static size_t width();
  /// --color; for "auto" NO_COLOR (no-color.org), then CLICOLOR_FORCE, then whether standard output
  /// is a terminal that isn't "dumb".
  bool colour() const;
  /// Has the locale's character set (LC_ALL, LC_CTYPE, LANG) block characters? It is UTF-8.
  static bool unicode();
  bool is_verbose() const { return verbose_; }

  static constexpr size_t kNoTerminal = 160;
  static constexpr size_t kNarrowest = 60;

 private:
  std::string color_ = "auto";
  bool verbose_ = false;
};

/// Prints text for people to standard output, its lines wrapped to the width. Exit code.
int print_wrapped(const std::string& text);

}  // namespace accsim::sim
