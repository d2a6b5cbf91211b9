#pragma once
#include <span>
#include <vector>

#include "hw/config/hw_config.h"
#include "sim/graph/graph.h"
#include "sim/lower/lower.h"

namespace accsim::sim {

/// Bytes of one element of a tensor as it lies in the machine's memories: floats and 8-bit integers
/// in the machine's activation type, everything else (indices, masks) as the graph has it.
int64_t element_bytes(const hw::HwConfig& hw, DType dtype);

/// Does nothing have to be done for the layer on the machine? Its result has its input's bytes:
/// what views are, and on machines of int8 a product with a positive number, which only changes
/// the scale.
bool is_view(const Layer& layer, const hw::HwConfig& hw);

/// Bytes of activations while a layer runs: of graph inputs, outputs and what lies between, as they
/// lie in memory.
struct MemoryUse {
  int64_t shared = 0;  ///< those that lie in the shared buffer
  int64_t live = 0;    ///< all that this or a later layer reads or has written, wherever it lies
};

/// Where a tensor lies among the bytes of the one that it is a part of.
struct SubTensorBytes {
  int64_t offset = 0;
  Pitch pitch{};  ///< in bytes
};

/// Which tensors stay in the shared buffer from the layer that writes them to the last that reads.
struct Residency {
  std::vector<bool> resident;  ///< by tensor id; views answer for the tensor they show
  std::vector<TensorId> root;  ///< by tensor id: the tensor whose bytes it shows, or some of them
  std::vector<SubTensorBytes> sub_tensors;  ///< by tensor id: which of them
  /// By tensor id: address of a resident's first byte in the shared buffer. -1 for constants, for
  /// tensors that aren't resident, and for those that show another tensor's bytes.
  std::vector<int64_t> addresses;
  int64_t end = 0;             ///< behind the last of those bytes
  int64_t peak_bytes = 0;      ///< most bytes resident at once
  std::vector<MemoryUse> use;  ///< by layer
};

/// A tensor is resident when at every layer of its life the tensors alive that are not larger fit
/// into the shared buffer together with it, and it has a place there (hw::place_bytes()). Graph
/// inputs and outputs and constants lie in DRAM. The rule never overfills the buffer, needs no
/// search, and but for what has no place only adds tensors when the buffer grows. Those whose bytes
/// are `in_dram`'s lie in DRAM whatever room there is. `kept` are constants that lie in the shared
/// buffer all the same; their room is hw.shared.kept_bytes, not in end.
Residency plan_residency(const Graph& graph, const Lowered& lowered, const hw::HwConfig& hw,
                         std::span<const TensorId> in_dram = {},
                         std::span<const TensorId> kept = {});

}  // namespace accsim::sim
