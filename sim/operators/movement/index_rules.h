#pragma once
#include "sim/operators/node_view.h"

namespace accsim::sim {

/// What gathers and scatters share. The values of the inputs named must be known.

/// Integer input i with negative indices counted from `size`; an error when one is outside.
Result<std::vector<int64_t>> indices_of(const NodeView& node, size_t i, int64_t size);
/// Offset into input 0 for each element of `shape`, to which the indices (input 1) broadcast: of a
/// GatherElements, or of a ScatterElements.
Result<std::vector<int64_t>> element_offsets(const NodeView& node, int64_t axis, const Dims& shape);
/// Offset into input 0 where the slice of each index tuple (last axis of input 1) starts.
Result<std::vector<int64_t>> tuple_offsets(const NodeView& node, int64_t batch_dims);
/// Attribute of a GatherElements that this program rewrites: the dims to which its indices are
/// repeated.
inline constexpr char kRepeatedTo[] = "repeated_to";

/// Indices that are evenly spaced: `count` of them, `step` apart.
struct PickRun {
  int64_t first = 0, step = 1, count = 1;
};
/// A list of indices as parts, one behind the other, each as long as it can be.
std::vector<PickRun> pick_runs(const std::vector<int64_t>& indices);
/// Parts that are moved as boxes rather than index by index, at most.
inline constexpr size_t kMostBoxes = 16;

/// An error unless the indices have the rank of input 0, which is no scalar.
Status same_rank_indices(const NodeView& node, size_t indices);

}  // namespace accsim::sim
