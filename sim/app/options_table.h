#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace accsim::sim {

/// What an option's value is. Help shows its word, completion offers what fits, and
/// check_file_options() goes by it: an option that takes a file or folder has one of these kinds.
enum class ValueKind : uint8_t {
  plain,           ///< a number or text
  read_file,       ///< read; a stored model's weights, too
  awaited_store,   ///< of a sweep, read when it is there
  machine,         ///< read; or a machine's name
  read_folder,     ///< dumps, or a tree with rtl/
  read_path,       ///< a file, or a folder of dumps
  read_source,     ///< NAME=FILE; NAME=random:SEED is no file
  written_file,    ///< written; - is stdout
  written_store,   ///< of a sweep; SQLite writes more files beside it
  written_folder,  ///< files are written into it
  command,         ///< of an argument: a word of a command of this program
};

/// Where a value goes; what may be given follows from its type. Nothing: the parser itself answers
/// (--help, --version). A list: the option may be repeated.
using OptionTarget = std::variant<std::monostate, bool*, int*, int64_t*, uint64_t*, double*,
                                  std::string*, std::vector<std::string>*>;

/// The numbers that may be given, both ends among them.
struct OptionRange {
  int64_t least = 0, most = 0;
};

/// An option or argument of a command: all that parser, help, manual, completion and
/// docs/options.md are made from. Fields that a row leaves out are as most options have them.
struct OptionRow {
  std::string name{};   ///< "-q,--quiet", "--json"; of an argument without dashes: "model"
  OptionTarget to{};    ///< holds the default
  std::string about{};  ///< a sentence without its full stop
  ValueKind kind = ValueKind::plain;
  std::string metavar{};  ///< "MxKxN"; "": as the kind, the choices or the target's type have it
  std::string unit{};     ///< of a number: "MiB", "cycles", "%"
  std::vector<std::string> choices{};  ///< all that the value may be; none: anything
  std::vector<std::string> offers{};   ///< words that completion knows; others may be given, too
  bool is_list = false;                ///< the value is some of those words, with commas between
  std::optional<OptionRange> range{};
  bool required = false;
  bool shows_default = false;
  std::string needs{};  ///< another option, without which this one is an error
  /// What is wrong with a value; "": nothing.
  std::string (*check)(const std::string&) = nullptr;

  std::string group{};               ///< heading in the help; set when the row is added
  std::string standard{};            ///< the default's text; set when the row is added; "": none
  std::vector<std::string> given{};  ///< the values of the command line; set by the parser

  bool is_positional() const { return !name.starts_with('-'); }
  bool is_flag() const;  ///< takes no value
  bool is_repeatable() const;
  /// "-q" and "--quiet"; of an argument its name.
  std::vector<std::string> spellings() const;
  /// "--quiet": the last of them.
  std::string long_name() const { return spellings().back(); }
  /// "FILE", "{auto,never}", "N"; "" for flags and arguments.
  std::string value_word() const;
  /// "-q, --quiet", "--json TARGET", "model".
  std::string label_text() const;
  /// The sentence with the numbers that it may be: "Threads (1 to 256)".
  std::string meaning_text() const;
  /// The meaning with what must be said beside it: "(repeatable)", "(required)",
  /// "(default: cycles)".
  std::string help_sentence() const;
};

/// The groups of options in the order in which they begin, those of every command last.
std::vector<std::string> option_groups(const std::vector<OptionRow>& rows);

/// The group of options that every command has.
inline constexpr const char* kCommonGroup = "Terminal";

}  // namespace accsim::sim
