#pragma once
#include <string>
#include <vector>

#include "hw/vectors/vectors.h"
#include "sim/app/console.h"
#include "sim/app/journal.h"
#include "sim/app/options.h"
#include "sim/app/sub_command.h"
#include "sim/verify/vector_case.h"

namespace accsim::sim {

/// `accsim vectors`: what tile programs take and give, as files for a bench of one's own.
class VectorsCommand : public SubCommand {
 public:
  void add_to(Command& program);
  int run(const Console& console, const std::string& version) const;

 private:
  void add_case_options();
  Status check_arguments() const;
  Result<std::vector<VerifyCase>> given_cases(const hw::HwConfig& hw) const;
  Result<std::vector<VectorCase>> make_cases(const hw::HwConfig& hw, Journal& journal) const;
  Result<VectorCase> make_network_case(const hw::HwConfig& hw, Journal& journal) const;
  hw::VectorOptions vector_options() const;
  Result<hw::VectorSummary> write_case(const VectorCase& c, const std::string& version,
                                       const std::string& folder) const;

  ModelOptions model_;
  MappingOptions mapping_;
  std::string hw_, output_, layer_, level_ = "command", format_ = "both";
  LayerWords layers_;
  std::vector<std::string> gemms_, convs_;
  int64_t random_ = 0;
  uint64_t seed_ = 1;
  int jobs_ = 1;
  bool random_numbers_ = false;
};

}  // namespace accsim::sim
