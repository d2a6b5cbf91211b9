#pragma once
#include <string>

#include "sim/app/options.h"
#include "sim/app/sub_command.h"

namespace accsim::sim {

/// `accsim cut`: writes a part of a model as a model of its own.
class CutCommand : public SubCommand {
 public:
  void add_to(Command& program);
  int run() const;

 private:
  ModelOptions model_;
  std::string output_;
  bool embed_ = false;
};

}  // namespace accsim::sim
