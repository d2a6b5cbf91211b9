#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace accsim::sim {

/// `--help` of the program and its commands: options by group, wrapped to the terminal's width (at
/// most 100 columns, beyond which lines are hard to read).
class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

}  // namespace accsim::sim
