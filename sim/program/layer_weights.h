#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/lower/lower.h"

namespace accsim::sim {

/// The weights of a layer's product as int8, [batch or groups][kernel z][y][x][channel][output],
/// when its weight tensor is stored with its values and its layout is known (Conv, Gemm, MatMul and
/// their quantised kin). Floats are quantised symmetrically, one scale an output channel; int8 is
/// kept.
std::optional<std::vector<int8_t>> stored_weights(const Graph& graph, const Layer& layer,
                                                  const GemmOp& op);

}  // namespace accsim::sim
