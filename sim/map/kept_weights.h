#pragma once
#include <vector>

#include "hw/config/hw_config.h"
#include "sim/graph/graph.h"
#include "sim/lower/lower.h"

namespace accsim::sim {

/// Constants that lie in the shared buffer when a run begins, and what they take there.
struct KeptWeights {
  std::vector<TensorId> tensors;
  int64_t bytes = 0;
};

/// Which weights of products stay from run to run on a machine of buffers.shared.weights: kept;
/// none on others. Tensors that layers hand on have their room as if there were none, and weights
/// with their parameters (bias and scale) get what is free beside them at every time, the smallest
/// first. Precondition: `hw` keeps none yet (kept_bytes).
KeptWeights kept_weights(const Graph& graph, const Lowered& lowered, const hw::HwConfig& hw);

/// The machine with that room taken.
hw::HwConfig machine_beside(const KeptWeights& kept, hw::HwConfig hw);

}  // namespace accsim::sim
