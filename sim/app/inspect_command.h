#pragma once
#include <string>

#include "sim/app/console.h"
#include "sim/app/options.h"
#include "sim/app/sub_command.h"

namespace accsim::sim {

/// `accsim inspect`: what can be said of a network before a machine is known.
class InspectCommand : public SubCommand {
 public:
  void add_to(Command& program);
  int run(const Console& console) const;

 private:
  ModelOptions model_;
  std::string json_, csv_, macs_ = "pure", traffic_ = "activations", sort_ = "order", by_;
  bool reorder_ = false, in_place_ = false, arena_ = false, all_ = false, quiet_ = false;
};

}  // namespace accsim::sim
