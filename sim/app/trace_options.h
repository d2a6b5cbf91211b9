#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "sim/app/command.h"
#include "sim/cost/cost.h"
#include "sim/report/trace.h"

namespace accsim::sim {

/// `--trace FILE` and how much detail is in it.
class TraceOptions {
 public:
  void add_to(Command& command);
  bool is_wanted() const { return !file_.empty(); }
  bool to_stdout() const { return file_ == "-"; }
  /// Writes the trace, if one is wanted. Exit code.
  int write_timeline(const CostedNetwork& network) const;
  /// The same of what `write` makes; it is given the most slices of a layer.
  int write_pieces_of(const std::function<Status(int64_t, const TextSink&)>& write) const;

 private:
  std::string file_;
  int64_t commands_ = 2000;
};

}  // namespace accsim::sim
