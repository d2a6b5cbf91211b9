#pragma once
#include <string>

#include "sim/app/console.h"
#include "sim/app/options.h"
#include "sim/app/sub_command.h"

namespace accsim::sim {

/// `accsim validate`: published figures of machines that exist, and what accsim says instead.
class ValidateCommand : public SubCommand {
 public:
  void add_to(Command& program);
  /// `version` goes into the page.
  int run(const Console& console, const std::string& version) const;

 private:
  MappingOptions mapping_;
  std::string source_, table_, json_, csv_, html_, markdown_;
  bool no_interval_ = false, search_ = false, quiet_ = false;
};

}  // namespace accsim::sim
