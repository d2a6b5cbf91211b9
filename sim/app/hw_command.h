#pragma once
#include <string>

#include "sim/app/dram_command.h"
#include "sim/app/sub_command.h"

namespace accsim::sim {

/// `accsim hw`: checks, prints and documents machine descriptions.
class HwCommand : public SubCommand {
 public:
  void add_to(Command& program);
  int run() const;

 private:
  int check_machine() const;
  int print_machine() const;
  /// Weight and input stationary are one core, output stationary is another.
  int print_rtl() const;

  std::string file_;
  Command *check_ = nullptr, *print_ = nullptr, *schema_ = nullptr, *fields_ = nullptr,
          *rtl_ = nullptr;
  HwDramCommand dram_;
};

}  // namespace accsim::sim
