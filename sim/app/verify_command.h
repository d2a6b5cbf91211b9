#pragma once
#include <string>

#include "sim/app/console.h"
#include "sim/app/journal.h"
#include "sim/app/options.h"
#include "sim/app/sub_command.h"
#include "sim/verify/verify_network.h"

namespace accsim::sim {

/// `accsim verify`: the same tile programs on Verilated RTL, golden and timing model.
class VerifyCommand : public SubCommand {
 public:
  void add_to(Command& program);
  int run(const Console& console) const;

 private:
  void add_case_options();
  void add_part_options();
  void add_core_options();
  /// Is a model to be verified as one program?
  bool is_whole_network() const { return !model_.model_path().empty() && !layers_; }
  Status check_arguments() const;
  Result<std::vector<VerifyCase>> make_cases(const hw::HwConfig& hw) const;
  Result<VerifyReport> verify_layers(const hw::HwConfig& hw, VerifyOptions options,
                                     Journal& journal) const;
  Result<VerifyReport> verify_whole(const hw::HwConfig& hw, VerifyOptions options,
                                    Journal& journal) const;
  Result<std::vector<VerifyCase>> given_cases(const hw::HwConfig& hw) const;
  /// As the options say.
  Result<VerifyOptions> verify_options() const;
  /// The list of signals that was asked for; exit code.
  int write_signals(const VerifyReport& report) const;
  int print_report(const VerifyReport& report, const Console& console) const;

  ModelOptions model_;
  MappingOptions mapping_;
  std::string hw_, json_, trace_, signals_, cache_, source_, cycles_ = "equal";
  LayerWords layer_words_;
  std::vector<std::string> gemms_, convs_, replaced_;
  int64_t random_ = 0, max_cycles_ = 0, trace_limit_ = 1024;
  uint64_t seed_ = 1;
  int jobs_ = 1;
  bool assertions_ = false, pe_modules_ = false, layers_ = false, random_numbers_ = false;
};

}  // namespace accsim::sim
