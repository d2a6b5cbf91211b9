#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace accsim::sim {

/// `accsim hw dram`: what a machine's banked DRAM makes of access patterns, command by command and
/// by the closed form.
class HwDramCommand {
 public:
  /// Adds the sub-command to `hw`; `chosen` is set when it is picked.
  void add_to(CLI::App& hw, std::function<int()>& chosen);

 private:
  int run() const;

  std::string file_;
  std::vector<std::string> patterns_;
  int64_t bursts_ = 200000;
};

}  // namespace accsim::sim
