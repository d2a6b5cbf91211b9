#pragma once
#include <string>
#include <vector>

#include "sim/app/command.h"

namespace accsim::sim {

/// `accsim ops`, `options`, `schema`, `completion` and `manual`: what the program says of itself.
class DocumentsCommand {
 public:
  void add_to(Command& program);
  bool is_chosen() const;
  /// `version` is the program's, for the manual pages.
  int run(const Command& program, const std::string& version) const;

 private:
  /// Prints the schema that was asked for. Exit code.
  int print_schema() const;
  int run_manual(const Command& program, const std::string& version) const;

  Command* ops_ = nullptr;
  Command* options_ = nullptr;
  Command* schema_ = nullptr;
  Command* completion_ = nullptr;
  Command* manual_ = nullptr;
  std::string shell_, folder_, schema_of_ = "report";
  std::vector<std::string> command_;
};

}  // namespace accsim::sim
