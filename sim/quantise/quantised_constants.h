#pragma once
#include "sim/program/network_numbers.h"
#include "sim/quantise/tensor_scales.h"

namespace accsim::sim {

/// What the numbers of a network's parts are made of.
struct ConstantsSource {
  const Graph& graph;
  const CostedNetwork& network;
  const hw::HwConfig& hw;
  const Calibration& calibration;
  const TensorScales& scales;
  const Constants& constants;  ///< of every constant tensor that layers read
};

/// The numbers with which a part computes, in int8, what its layer's nodes do: weights of one scale
/// an output channel, tables of the layer's functions, scales and zero points of its tensors.
/// Errc::unsupported, with the layer's name, where it isn't known how.
Result<PartNumbers> quantised_constants(const ConstantsSource& source, const NetworkPart& part);

/// The codes of an array as they lie in memory.
std::vector<uint8_t> codes_in_memory(const ref::Array& array, const Layout& layout,
                                     const hw::ElementScale& scale);
/// The values of such codes.
ref::Array values_from_memory(std::span<const uint8_t> codes, const Tensor& tensor,
                              const Layout& layout, const hw::ElementScale& scale);

}  // namespace accsim::sim
