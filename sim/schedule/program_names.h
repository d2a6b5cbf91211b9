#pragma once
#include <span>

#include "sim/graph/graph.h"
#include "sim/schedule/chain.h"

namespace accsim::sim {

/// Names the tensors of an op's program after the tensors of its layer whose bytes they are. Equal
/// ops share one mapping, whose names are those of the first op. Tensors that belong to the program
/// alone are named after these: "w (bias and scale)".
void name_tensors(const Graph& graph, const OpTrace& trace, const LayerPorts& ports,
                  const LayerTensors& layer, std::span<hw::ProgramTensor> tensors);

}  // namespace accsim::sim
