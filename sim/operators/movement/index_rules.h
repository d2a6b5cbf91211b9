#pragma once
#include "sim/operators/node_view.h"

namespace accsim::sim {

/// What gathers and scatters share. The values of the inputs named must be known.

/// Integer input i with negative indices counted from `size`; an error when one is outside.
Result<std::vector<int64_t>> indices_of(const NodeView& node, size_t i, int64_t size);
/// Offset into input 0 for each element of the indices (input 1) of a GatherElements.
Result<std::vector<int64_t>> element_offsets(const NodeView& node, int64_t axis);
/// Offset into input 0 where the slice of each index tuple (last axis of input 1) starts.
Result<std::vector<int64_t>> tuple_offsets(const NodeView& node, int64_t batch_dims);
/// An error unless the indices have the rank of input 0, which is no scalar.
Status same_rank_indices(const NodeView& node, size_t indices);

}  // namespace accsim::sim
