#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/app/options_table.h"

namespace accsim::sim {

/// The program or a command of it: what it takes as a table of rows, and the commands below it.
/// Commands only describe; sim/app/parser.h reads a command line by them.
class Command {
 public:
  Command(std::string name, std::string about, const Command* parent = nullptr);
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// A command below this one, which owns it. `about`: the first line is the summary.
  Command& add_command(const std::string& name, const std::string& about);
  /// Rows under a heading of the help, in this order.
  void add(const std::string& group, std::vector<OptionRow> rows);
  void add(std::vector<OptionRow> rows) { add("Options", std::move(rows)); }

  const std::string& name() const { return name_; }
  const std::string& about() const { return about_; }
  std::string summary() const { return about_.substr(0, about_.find('\n')); }
  /// "accsim sweep show".
  std::string path() const;
  const Command* parent() const { return parent_; }
  const std::vector<OptionRow>& rows() const { return rows_; }
  std::vector<OptionRow>& rows() { return rows_; }
  /// In the order in which they were added.
  std::vector<const Command*> commands() const;
  std::vector<Command*> commands();
  /// The row of an option; nullptr for none.
  const OptionRow* find(std::string_view long_name) const;
  /// Was the option on the command line?
  bool is_given(std::string_view long_name) const;

  /// Was it named on the command line? The program always is.
  bool is_chosen() const { return chosen_; }
  void choose() { chosen_ = true; }
  /// The command that was meant: the last one that was named.
  const Command& innermost_command() const;

  std::string footer;          ///< the help's end; exit codes come last
  std::string version;         ///< what --version prints; "": there is no such option
  bool needs_command = false;  ///< one of its commands must follow

 private:
  std::string name_, about_;
  const Command* parent_;
  std::vector<OptionRow> rows_;
  std::vector<std::unique_ptr<Command>> commands_;
  bool chosen_ = false;
};

}  // namespace accsim::sim
