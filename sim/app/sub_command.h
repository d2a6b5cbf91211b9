#pragma once
#include "sim/app/command.h"

namespace accsim::sim {

/// A sub-command of the program. Those derived from it have add_to(program), which sets `sub_`, and
/// run(), which gives the exit code.
class SubCommand {
 public:
  bool is_chosen() const { return sub_ != nullptr && sub_->is_chosen(); }

 protected:
  ~SubCommand() = default;

  Command* sub_ = nullptr;
};

}  // namespace accsim::sim
