#pragma once
#include <string>

#include <CLI/CLI.hpp>

namespace accsim {

/// `accsim gemm`: a model of one product.
class GemmModelCommand {
 public:
  void add_to(CLI::App& app);
  bool chosen() const { return sub_ != nullptr && sub_->parsed(); }
  int run() const;

 private:
  CLI::App* sub_ = nullptr;
  std::string size_, output_, weights_, op_ = "auto";
  int64_t batch_ = 1, opset_ = 13;
  double alpha_ = 1, beta_ = 1;
  bool trans_a_ = false, trans_b_ = false, bias_ = false;
};

}  // namespace accsim
