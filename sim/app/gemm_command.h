#pragma once
#include <string>

#include "sim/app/sub_command.h"

namespace accsim::sim {

/// `accsim gemm`: a model of one product.
class GemmModelCommand : public SubCommand {
 public:
  void add_to(Command& program);
  int run() const;

 private:
  std::string size_, output_, weights_, op_ = "auto";
  int64_t batch_ = 1, opset_ = 13;
  double alpha_ = 1, beta_ = 1;
  bool trans_a_ = false, trans_b_ = false, bias_ = false;
};

}  // namespace accsim::sim
