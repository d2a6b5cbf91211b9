#pragma once
#include <string>
#include <vector>

#include "sim/app/sub_command.h"

namespace accsim::sim {

/// `accsim hw dram`: what a machine's banked DRAM makes of access patterns, command by command and
/// by the closed form.
class HwDramCommand : public SubCommand {
 public:
  void add_to(Command& hw);
  int run() const;

 private:
  std::string file_;
  std::vector<std::string> patterns_;
  int64_t bursts_ = 200000;
};

}  // namespace accsim::sim
