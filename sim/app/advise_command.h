#pragma once
#include <string>

#include "sim/app/console.h"
#include "sim/app/options.h"
#include "sim/app/sub_command.h"

namespace accsim::sim {

/// `accsim advise`: which field of a machine would bring most.
class AdviseCommand : public SubCommand {
 public:
  void add_to(Command& program);
  int run(const Console& console) const;

 private:
  ModelOptions model_;
  MappingOptions mapping_;
  std::string hw_, json_;
};

}  // namespace accsim::sim
