#pragma once
#include <span>

#include "sim/graph/graph.h"
#include "sim/schedule/chain.h"

namespace accsim::sim {

/// Names the tensors of an op's program after those that the op of this layer reads and writes, the
/// tensors whose bytes they are: equal ops share one mapping, whose names are those of the first.
/// What belongs to the program alone is named after them: "w (bias and scale)".
void name_tensors(const Graph& graph, const OpTrace& trace, const LayerPorts& ports,
                  const LayerTensors& layer, std::span<hw::ProgramTensor> tensors);

}  // namespace accsim::sim
