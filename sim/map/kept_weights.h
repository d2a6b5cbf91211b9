#pragma once
#include <vector>

#include "hw/config/hw_config.h"
#include "sim/graph/graph.h"
#include "sim/lower/lower.h"

namespace accsim::sim {

/// Tensors that lie in the shared buffer when a run begins or ends, and what they take there: those
/// of Graph::on_chip, and weights.
struct KeptWeights {
  std::vector<TensorId> tensors;
  int64_t bytes = 0;
};

/// Which weights of products stay from run to run on a machine of buffers.shared.weights: kept;
/// none on others. Tensors that layers hand on have their room as if there were none, and weights
/// with their parameters (bias and scale) get what is free beside them at every time, the smallest
/// first. Those of Graph::on_chip come before all of them, on every machine, and
/// check_on_chip() says whether they fit. Precondition: `hw` keeps none yet (kept_bytes).
KeptWeights kept_weights(const Graph& graph, const Lowered& lowered, const hw::HwConfig& hw);

/// Do the tensors of Graph::on_chip fit? Errc::capacity: they don't.
Status check_on_chip(const Graph& graph, const Lowered& lowered, const hw::HwConfig& hw);

/// The machine with that room taken.
hw::HwConfig machine_beside(const KeptWeights& kept, hw::HwConfig hw);

}  // namespace accsim::sim
