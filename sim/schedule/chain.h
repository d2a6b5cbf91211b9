#pragma once
#include <vector>

#include "sim/lower/lower.h"
#include "sim/map/cost_evaluator.h"
#include "sim/map/mapper.h"
#include "sim/map/residency.h"

namespace accsim::sim {

/// The tensors that a layer's ports are, as a chain numbers them: tensors of the graph that share
/// their bytes are one.
struct LayerTensors {
  std::vector<int32_t> inputs, outputs;
  std::vector<SubTensorBytes> input_places, output_places;  ///< which parts of them
  int32_t internal = 0;  ///< the first of those between two ops of a layer
  int32_t end = 0;       ///< behind the last of them
  int32_t own = 0;       ///< parameters and absent inputs: nobody marks them
  int32_t regions = 0;   ///< the first of those that programs of all layers stage in
};
/// Those of all layers of the network that the residency is of, in their order. What lives between
/// ops of a layer has numbers that no other layer has: ops of several layers may take turns.
std::vector<LayerTensors> network_tensors(const Lowered& lowered, const Residency& residency);

/// Tensor i of the marks of an op's trace, as a chain numbers it.
std::vector<int32_t> tensor_numbers(const OpTrace& trace, const LayerPorts& ports,
                                    const LayerTensors& tensors);

/// Which part of it an operand of a layer is.
SubTensorBytes part_of(const LayerTensors& tensors, const OperandPort& port);

/// Bytes from the beginning of a chain's tensor to byte `offset` of what an op has at a port.
int64_t offset_in_chain(const LayerTensors& tensors, const LayerPorts& ports,
                        const OperandPort& port, int64_t offset = 0);

/// Does the program load before its first vector command (see hw::Chain)?
bool loads_first(const OpTrace& trace);

}  // namespace accsim::sim
