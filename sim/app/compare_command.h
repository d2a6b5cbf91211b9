#pragma once
#include <string>
#include <vector>

#include "sim/app/console.h"
#include "sim/app/options.h"
#include "sim/app/sub_command.h"
#include "sim/compare/compare.h"

namespace accsim::sim {

/// `accsim compare`: where the difference of two runs' cycles comes from.
class CompareCommand : public SubCommand {
 public:
  void add_to(Command& program);
  /// Command line and version are what the page quotes.
  int run(const Console& console, const std::string& command, const std::string& version) const;

 private:
  Result<std::vector<Comparison>> of_reports() const;
  Result<std::vector<Comparison>> of_machines() const;
  int print_comparisons(const std::vector<Comparison>& comparisons, const Console& console,
                        const std::string& page) const;

  ModelOptions graph_;
  MappingOptions mapping_, mapping_b_;
  std::vector<std::string> inputs_, machines_;
  std::string json_, html_;
  bool all_ = false, quiet_ = false;
};

}  // namespace accsim::sim
