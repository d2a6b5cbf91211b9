#pragma once
#include <string>

#include <CLI/CLI.hpp>

#include "sim/app/options.h"

namespace accsim {

/// `accsim tile`: a model whose products are cut to a tile's size.
class TileCommand {
 public:
  void add_to(CLI::App& app);
  bool chosen() const { return sub_ != nullptr && sub_->parsed(); }
  int run() const;

 private:
  CLI::App* sub_ = nullptr;
  ModelOptions model_;
  std::string output_, tile_ = "64x64x64", edge_ = "ragged", conv_ = "keep", layers_ = "*";
};

}  // namespace accsim
