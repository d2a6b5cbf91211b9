#pragma once
#include <string>
#include <vector>

#include "sim/app/console.h"
#include "sim/app/options.h"
#include "sim/app/sub_command.h"
#include "sim/run/run.h"

namespace accsim::sim {

/// `accsim run`: computes the network's numbers with the reference executor.
class RunCommand : public SubCommand {
 public:
  void add_to(Command& program);
  int run(const Console& console) const;

 private:
  Result<RunRequest> make_request() const;
  /// prepare_run() of the model, or of what a TorchScript file becomes.
  Result<PreparedRun> prepare_model(const RunRequest& wanted) const;
  /// What options ask for of one another.
  void check_options(Errors& errors) const;
  Status parse_inputs(RunRequest& to) const;
  void add_int8_to(Command& command);
  int print_results(const PreparedRun& prepared, const RunSummary& summary, std::string text) const;

  ModelOptions model_;
  std::vector<std::string> inputs_;
  std::string weights_, output_, dump_, hw_, json_;
  bool raw_ = false, layerwise_ = false, int8_ = false, network_ = false;
  int64_t count_ = 1, calibrate_ = 0;
  double percentile_ = 100;
  int threads_ = 1;
};

}  // namespace accsim::sim
