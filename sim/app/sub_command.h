#pragma once
#include <CLI/CLI.hpp>

namespace accsim::sim {

/// A sub-command of the program. Those derived from it have add_to(app), which sets `sub_`, and
/// run(), which gives the exit code.
class SubCommand {
 public:
  bool chosen() const { return sub_ != nullptr && sub_->parsed(); }

 protected:
  ~SubCommand() = default;

  CLI::App* sub_ = nullptr;
};

}  // namespace accsim::sim
