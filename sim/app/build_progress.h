#pragma once
#include <optional>
#include <string>

#include "hw/cosim/core_build.h"
#include "sim/app/progress.h"

namespace accsim::sim {

/// Says on stderr that a Verilated core is built or waited for, and how far that is.
class BuildProgress {
 public:
  void operator()(const hw::BuildStep& step);

 private:
  using Kind = hw::BuildStep::Kind;

  std::optional<Progress> progress_;  ///< of a build that is under way
  bool waits_ = false;                ///< for another's
};

}  // namespace accsim::sim
