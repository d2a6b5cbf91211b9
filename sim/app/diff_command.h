#pragma once
#include <string>

#include <CLI/CLI.hpp>

namespace accsim {

/// `accsim diff`: two folders of dumped tensors, layer by layer.
class DiffCommand {
 public:
  void add_to(CLI::App& app);
  bool chosen() const { return sub_->parsed(); }
  int run() const;

 private:
  CLI::App* sub_ = nullptr;
  std::string a_, b_, json_;
  double atol_ = 1e-5, rtol_ = 1e-3;
};

}  // namespace accsim
