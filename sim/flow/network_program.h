#pragma once
#include "hw/program/program.h"
#include "sim/flow/cost.h"

namespace accsim::sim {

/// A costed network as one program: the programs of its layers one behind the other on a machine
/// that never drains. What a layer stores and another loads is one tensor, with marks that order
/// them; cost_network()'s cycles are this program's. Tensors in the shared buffer that aren't alive
/// at the same time still have bytes of their own here.
/// Precondition: the network was costed with programs.
hw::Program network_program(const Graph& graph, const CostedNetwork& network);

}  // namespace accsim::sim
