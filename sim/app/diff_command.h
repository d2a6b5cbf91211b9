#pragma once
#include <string>

#include "sim/app/sub_command.h"
#include "sim/app/tensor_file.h"

namespace accsim::sim {

/// `accsim diff`: two folders of dumped tensors, layer by layer, or two files of tensors.
class DiffCommand : public SubCommand {
 public:
  void add_to(Command& program);
  int run() const;

 private:
  Result<DiffReport> compare_inputs() const;

  TensorFiles files_;
  std::string a_, b_, json_;
  double atol_ = 1e-5, rtol_ = 1e-3;
};

}  // namespace accsim::sim
