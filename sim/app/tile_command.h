#pragma once
#include <string>

#include "sim/app/options.h"
#include "sim/app/sub_command.h"

namespace accsim::sim {

/// `accsim tile`: a model whose products are cut to a tile's size.
class TileCommand : public SubCommand {
 public:
  void add_to(Command& program);
  int run() const;

 private:
  ModelOptions model_;
  std::string output_, tile_ = "64x64x64", edge_ = "ragged", conv_ = "keep", layers_ = "*";
};

}  // namespace accsim::sim
