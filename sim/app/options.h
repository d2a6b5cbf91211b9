#pragma once
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/result.h"
#include "sim/elaborate/elaborate.h"
#include "sim/map/mapper.h"

namespace accsim::sim {

/// "2x3x4"; nullopt when it isn't one, or a dim is below 1.
std::optional<Dims> parse_dims(std::string_view text);
/// Rows, reduction and columns of a product from "MxKxN"; the error is about `option`.
Result<Dims> parse_product(const std::string& text, const char* option);
/// The seed of "random:SEED"; nullopt when it isn't that.
std::optional<uint64_t> random_seed(std::string_view text);

/// Options that say which graph a model file stands for; shared by all commands that read models.
class ModelOptions {
 public:
  void add_to(CLI::App& app, bool required);
  const std::string& model() const { return model_; }
  Result<ElaborateOptions> elaborate() const;

 private:
  std::string model_;
  std::vector<std::string> bindings_, shapes_;
  bool allow_unsupported_ = false;
};

/// Options that pin the mapping.
class MappingOptions {
 public:
  void add_to(CLI::App& app);
  Result<MapOptions> parse() const;

 private:
  std::string dataflow_, objective_ = "cycles", effort_ = "search";
  std::vector<std::string> mappings_;
};

}  // namespace accsim::sim
