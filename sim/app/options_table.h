#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace accsim::sim {

/// An option or positional as people read it; all that help, manual, completion and
/// docs/options.md are made from.
struct OptionRow {
  std::vector<std::string> spellings;  ///< "-q", "--quiet"; of a positional its name
  std::string value;                   ///< "FILE", "{auto,never}"; "" for flags and positionals
  std::vector<std::string> choices;    ///< all that the value may be; empty: anything
  std::string standard;                ///< the default's text; "" for none
  std::string about, group;
  std::string kind;  ///< the type_name that was set, e.g. kReadFile
  bool flag = false, positional = false, required = false, repeatable = false;

  /// "-q, --quiet", "--json TARGET", "model".
  std::string label() const;
  /// The sentence with what must be said beside it: "(repeatable)", "(required)",
  /// "(default: cycles)".
  std::string sentence() const;
};

/// What a command takes, in the order in which it was added; hidden ones are left out.
std::vector<OptionRow> option_rows(const CLI::App& app);
/// The groups of a command's options in that order, those of every command last.
std::vector<std::string> option_groups(const std::vector<OptionRow>& rows);
/// "accsim sweep show".
std::string command_path(const CLI::App& app);
/// All commands of a command, in the order in which they were added.
std::vector<const CLI::App*> commands_of(const CLI::App& app);
/// A description's first line.
std::string summary_of(const CLI::App& app);

/// The group of options that every command has.
inline constexpr const char* kCommonGroup = "Terminal";

/// Every command of the program with its options, as Markdown (docs/options.md): what `--help`
/// says, read from the parser itself, so that the two can't differ.
std::string options_markdown(const CLI::App& app);

}  // namespace accsim::sim
