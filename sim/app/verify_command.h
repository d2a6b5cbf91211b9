#pragma once
#include <string>

#include "sim/app/console.h"
#include "sim/app/options.h"
#include "sim/flow/verify.h"

namespace accsim::sim {

/// `accsim verify`: the same tile programs on Verilated RTL, golden and timing model.
class VerifyCommand {
 public:
  void add_to(CLI::App& app);
  bool chosen() const { return sub_->parsed(); }
  int run(const Console& console) const;

 private:
  Result<std::vector<VerifyCase>> cases(const hw::HwConfig& hw) const;
  Result<std::vector<VerifyCase>> given_cases(const hw::HwConfig& hw) const;
  /// As the options say; the folders are not in it.
  VerifyOptions verify_options() const;

  CLI::App* sub_ = nullptr;
  ModelOptions model_;
  MappingOptions mapping_;
  std::string hw_, json_, trace_, cache_, source_;
  std::vector<std::string> gemms_, convs_;
  int64_t random_ = 0, max_cycles_ = 0;
  uint64_t seed_ = 1;
  int jobs_ = 1;
  bool assertions_ = false, pe_modules_ = false;
};

}  // namespace accsim::sim
