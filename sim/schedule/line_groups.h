#pragma once
#include <span>
#include <vector>

#include "sim/schedule/chain.h"
#include "sim/schedule/op_flow.h"
#include "sim/schedule/op_readers.h"

namespace accsim::sim {

/// Ops of which each makes its lines of those that the one before has written and that nobody else
/// reads, by turns on the array and the vector unit: while one works on lines, the other can work
/// on those before.
struct LineGroup {
  std::vector<size_t> ops;  ///< rising
  std::vector<OpFlow> flows;
  std::vector<bool> on_array;  ///< by op
  int64_t shared = 0;          ///< bytes of the shared buffer that are alive while any of them runs
  int64_t shared_of_two = 0;   ///< while the first or the second does

  size_t first_op() const { return ops.front(); }
};

/// Of a run the first two ops alone.
LineGroup first_two(const LineGroup& run);

/// Tensors in the shared buffer that leave a run no room to be cut: what its first op reads, where
/// all that is alive while its ops run is more than there is, even when what ops make for the next
/// one is moved to DRAM. `tensors`: by layer.
std::vector<TensorId> in_the_way(std::span<const LineGroup> runs, std::span<const ChainOp> ops,
                                 std::span<const LayerTensors> tensors, const hw::HwConfig& hw);

/// The runs among a network's ops, none of them in two; in order of their first ops.
std::vector<LineGroup> line_groups(const OpReaders& readers, const hw::HwConfig& hw,
                                   std::span<const ChainOp> ops);

/// By op of a run, by piece: how many lines of its result the op has made behind the piece. Of the
/// first op on the array each piece has `lines`, the last one what is left; pieces of the other ops
/// have all lines that they find what they need for.
std::vector<std::vector<int64_t>> line_ends(const LineGroup& run, int64_t lines);

}  // namespace accsim::sim
