#pragma once
#include <functional>
#include <set>
#include <vector>

#include "hw/program/program.h"
#include "sim/cost/cost.h"

namespace accsim::sim {

/// A mapped op of a layer as part of a network's program.
struct NetworkPart {
  size_t layer = 0, item = 0;  ///< of CostedNetwork::mappings
  const Mapping* mapping = nullptr;
  const LayerPorts* ports = nullptr;  ///< of CostedNetwork::ports
  std::vector<int> tensors;           ///< of the network's program, by tensor of the part's
  std::vector<int64_t> offsets;       ///< by tensor of the part's: where in the program's it begins
  std::vector<Pitch> pitches;  ///< by tensor of the part's: that of its rows in the program's
  std::vector<bool> constant;  ///< by tensor of the part's: laid out off line, nobody else's
};

/// A network as one program, and which parts it is of, in order.
struct NetworkProgram {
  hw::Program program;
  std::vector<NetworkPart> parts;
  /// Tensors of the program that layers which aren't part of it write, some of their bytes or all:
  /// they have an address of their own, and those bytes from the beginning.
  std::set<int> outside;
};

/// How network_program() puts it together.
struct NetworkProgramOptions {
  /// Which layers are part of the program; without one: all are.
  std::function<bool(size_t layer)> includes = nullptr;
  /// Writes the part's program, with other numbers than the mapping's, all else the same; without
  /// one it is the mapping's.
  std::function<hw::Program(const NetworkPart&)> emit = nullptr;
};

/// A costed network as one program: the programs of its layers one behind the other on a machine
/// that never drains. What a layer stores and another loads is one tensor, with marks that order
/// them; cost_network()'s cycles are this program's. Tensors in the shared buffer lie where they
/// were costed; hw::place_tensors() adds what orders uses of the same bytes.
/// Precondition: the network was costed with programs, and lives as long as the result.
NetworkProgram network_program(const Graph& graph, const CostedNetwork& network,
                               const NetworkProgramOptions& options = {});

}  // namespace accsim::sim
