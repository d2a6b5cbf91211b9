#pragma once
#include <string>
#include <vector>

#include "sim/app/console.h"
#include "sim/app/options.h"
#include "sim/app/sub_command.h"
#include "sim/flow/run.h"

namespace accsim::sim {

/// `accsim run`: computes the network's numbers with the reference executor.
class RunCommand : public SubCommand {
 public:
  void add_to(CLI::App& app);
  int run(const Console& console) const;

 private:
  Result<RunRequest> request() const;

  ModelOptions model_;
  std::vector<std::string> inputs_;
  std::string weights_, output_, dump_, hw_;
  bool layerwise_ = false, int8_ = false;
  int threads_ = 1;
};

}  // namespace accsim::sim
