#pragma once
#include <cstdint>
#include <vector>

#include "sim/analyse/storage.h"

namespace accsim::sim {

/// Steps of the storage in the order in which they run: a permutation of their indices.
using StepOrder = std::vector<int>;

/// Places in the order, both ends included.
struct Life {
  int first = 0, last = 0;
};

/// The steps as the graph lists them: 0, 1, 2, ...
StepOrder given_order(const Storage& storage);

/// When each buffer is live if the steps run in this order. While a step runs, all it reads and
/// writes is live, and so is everything that a later step reads.
std::vector<Life> lives_of_buffers(const Storage& storage, const StepOrder& order);

/// The largest live set of an order, and where it is.
struct LivePeak {
  int64_t bytes = 0;
  int place = -1;  ///< in the order: the first where the live set is largest; -1: no steps
  std::vector<int> buffers;  ///< what is live there, largest first
};
/// The largest live set. No plan that keeps each buffer in one place can need less memory.
LivePeak live_peak(const Storage& storage, const StepOrder& order);

/// A place for every buffer in one piece of memory of `bytes` bytes.
struct Arena {
  int64_t bytes = 0;
  std::vector<int64_t> offsets;  ///< by buffer; buffers that are live together don't overlap
};
/// Places buffers as they are born (hw::place_bytes()). If that takes more than the largest live
/// set, there is a second plan. It places them one after the other, the largest first, each in the
/// smallest gap among those that are live with it. A second pass starts with those that live
/// longest. The smaller plan counts. If buffers meet more than fifty million times, neither is
/// made.
Arena plan_arena(const Storage& storage, const std::vector<Life>& lives);

/// An order with a lower peak, by list scheduling. It runs the ready step that leaves the least
/// live, needs the least new memory, or comes first, from the first step on and from the last one
/// back. The best of these and the given order counts.
StepOrder reorder_steps(const Storage& storage);

}  // namespace accsim::sim
