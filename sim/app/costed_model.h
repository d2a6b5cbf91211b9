#pragma once
#include <string>
#include <vector>

#include "sim/app/options.h"
#include "sim/cost/cost.h"
#include "sim/verify/verify.h"

namespace accsim::sim {

/// A model's graph and what it costs. Where attention is taken in blocks, the graph has the blocks.
struct CostedModel {
  Graph graph;
  CostedNetwork network;
};

/// Of the model that the options name.
Result<CostedModel> cost_model(const ModelOptions& model, const MappingOptions& mapping,
                               const hw::HwConfig& hw);

/// The products and convolutions that --gemm and --conv name, with their best mappings; all that is
/// wrong with them.
Result<std::vector<VerifyCase>> named_products(const std::vector<std::string>& gemms,
                                               const std::vector<std::string>& convs,
                                               const hw::HwConfig& hw, const MapOptions& options);

}  // namespace accsim::sim
