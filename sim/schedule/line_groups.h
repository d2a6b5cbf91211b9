#pragma once
#include <span>
#include <vector>

#include "sim/schedule/chain.h"
#include "sim/schedule/op_flow.h"
#include "sim/schedule/op_readers.h"

namespace accsim::sim {

/// Ops in a row. Each makes its lines from lines that the op before it has written and that nobody
/// else reads. They are by turns on the array and on the vector unit. So one unit works on lines
/// while the other one works on the lines before them.
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

/// Tensors in the shared buffer that leave a run no room to be cut. They are what the run's first
/// op reads, if all tensors alive during its ops don't fit, even when what the ops hand on moves to
/// DRAM. `tensors`: by layer.
std::vector<TensorId> in_the_way(std::span<const LineGroup> runs, std::span<const ChainOp> ops,
                                 std::span<const LayerTensors> tensors, const hw::HwConfig& hw);

/// The runs among a network's ops, none of them in two; in order of their first ops.
std::vector<LineGroup> line_groups(const OpReaders& readers, const hw::HwConfig& hw,
                                   std::span<const ChainOp> ops);

/// By op of a run, by piece: the lines of its result that the op has made behind the piece. Pieces
/// of the first op on the array have `lines` each, and the last one has what is left. Pieces of
/// other ops have all lines whose inputs are there.
std::vector<std::vector<int64_t>> line_ends(const LineGroup& run, int64_t lines);

}  // namespace accsim::sim
