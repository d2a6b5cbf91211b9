#pragma once
#include "sim/app/options.h"
#include "sim/flow/cost.h"

namespace accsim::sim {

/// A model's graph and what it costs. Where attention is taken in blocks, the graph has the blocks.
struct CostedModel {
  Graph graph;
  CostedNetwork network;
};

/// Of the model that the options name.
Result<CostedModel> cost_model(const ModelOptions& model, const MappingOptions& mapping,
                               const hw::HwConfig& hw);

}  // namespace accsim::sim
