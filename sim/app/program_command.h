#pragma once
#include <string>
#include <vector>

#include "sim/app/console.h"
#include "sim/app/sub_command.h"
#include "sim/app/trace_options.h"
#include "sim/report/program_report.h"
#include "sim/report/verify.h"

namespace accsim::sim {

/// `accsim program`: tile programs of a file, as --dump-program writes them, are verified, timed
/// and, when asked for, run.
class ProgramCommand : public SubCommand {
 public:
  void add_to(Command& program);
  int run(const Console& console) const;

 private:
  int write_outputs(const ProgramReport& report, const std::vector<hw::Program>& programs) const;
  /// On RTL, golden and timing model; exit code.
  int run_programs(std::vector<hw::Program> programs, const hw::HwConfig& hw) const;

  std::string file_, hw_, json_, cache_;
  TraceOptions trace_;
  uint64_t seed_ = 1;
  int jobs_ = 1;
  bool verify_ = false;
};

}  // namespace accsim::sim
