#pragma once
#include <string>

#include "sim/app/options.h"

namespace accsim {

/// `accsim inspect`: what can be said of a network before a machine is known.
class InspectCommand {
 public:
  void add_to(CLI::App& app);
  bool chosen() const { return sub_->parsed(); }
  int run() const;

 private:
  CLI::App* sub_ = nullptr;
  ModelOptions model_;
  std::string json_, csv_, macs_ = "pure", traffic_ = "activations", sort_ = "order";
  bool reorder_ = false, in_place_ = false, arena_ = false, all_ = false, quiet_ = false;
};

}  // namespace accsim
