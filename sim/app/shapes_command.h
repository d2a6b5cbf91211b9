#pragma once
#include <string>

#include "sim/app/console.h"
#include "sim/app/options.h"
#include "sim/app/sub_command.h"

namespace accsim::sim {

/// `accsim shapes`: element type and shape of every node output.
class ShapesCommand : public SubCommand {
 public:
  void add_to(Command& program);
  int run(const Console& console) const;

 private:
  ModelOptions model_;
  std::string json_;
};

}  // namespace accsim::sim
