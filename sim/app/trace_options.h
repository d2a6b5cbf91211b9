#pragma once
#include <cstdint>
#include <string>

#include "sim/app/command.h"
#include "sim/cost/cost.h"

namespace accsim::sim {

/// `--trace FILE` and how much detail is in it.
class TraceOptions {
 public:
  void add_to(Command& command);
  bool is_wanted() const { return !file_.empty(); }
  bool to_stdout() const { return file_ == "-"; }
  /// Writes the trace, if one is wanted. Exit code.
  int write_timeline(const CostedNetwork& network) const;

 private:
  std::string file_;
  int64_t commands_ = 2000;
};

}  // namespace accsim::sim
