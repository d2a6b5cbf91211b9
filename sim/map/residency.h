#pragma once
#include <vector>

#include "hw/config/hw_config.h"
#include "sim/graph/graph.h"
#include "sim/lower/lower.h"

namespace accsim::sim {

/// Bytes of one element of a tensor as it lies in the machine's memories: floats and 8-bit integers
/// in the machine's activation type, everything else (indices, masks) as the graph has it.
int64_t element_bytes(const hw::HwConfig& hw, DType dtype);

/// Which tensors stay in the shared buffer from the layer that writes them to the last that reads.
struct Residency {
  std::vector<bool> resident;  ///< by tensor id; views answer for the tensor they show
  std::vector<TensorId> root;  ///< by tensor id: the tensor whose bytes it shows
  int64_t peak_bytes = 0;      ///< most bytes resident at once
};

/// A tensor is resident when at every layer of its life the tensors alive that are not larger fit
/// into the shared buffer together with it. Graph inputs and outputs and constants lie in DRAM. The
/// rule never overfills the buffer, needs no search, and only adds tensors when the buffer grows.
Residency plan_residency(const Graph& graph, const Lowered& lowered, const hw::HwConfig& hw);

}  // namespace accsim::sim
