#pragma once
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/schedule/op_flow.h"
#include "sim/schedule/op_readers.h"

namespace accsim::sim {

/// Ops in a row, on the array and on the vector unit. Each makes its rows from rows that the op
/// before it has written and that nobody else reads. So pieces of them can take turns.
struct RowGroup {
  std::vector<size_t> ops;  ///< rising
  std::vector<OpFlow> flows;
  /// Bytes of the shared buffer, while any of the ops' layers runs, of tensors that aren't from one
  /// of them to the next.
  int64_t shared_beside = 0;
  /// Of more than two ops: two neighbours each that are a run of their own, by the first of them.
  std::vector<std::pair<size_t, RowGroup>> pairs = {};

  size_t first_op() const { return ops.front(); }
  /// Bytes of rows between op k and the next one, of a piece.
  int64_t piece_bytes(size_t k, int64_t count) const {
    return flows[k].count / count * flows[k].out_bytes;
  }
};

/// The runs among a network's ops, none of them in two; in order of their first ops.
std::vector<RowGroup> row_groups(const OpReaders& readers, const hw::HwConfig& hw,
                                 std::span<const ChainOp> ops);

/// A piece of op `k` of a run.
struct TileStep {
  size_t k = 0;
  int64_t piece = 0;
};
/// An order of the pieces of ops of these units, in which what the vector unit works on was made
/// while it worked on the piece before, and the array works beside it.
std::vector<TileStep> interleave(const std::vector<bool>& on_array, int64_t count);

}  // namespace accsim::sim
