#pragma once
#include "sim/lower/lower.h"

namespace accsim::sim {

/// Makes sub-tensors, Lowered::sub_tensors, of what Slice, Split and Concat only move, in a graph
/// laid out whose layers know their lane and row work. What is cut out is read where it lies, and
/// what is put together is written where it belongs. That holds if all readers and writers can work
/// with the pitch (pitched_work()), and if it isn't dearer than a copy. Moves that are left out are
/// no work any more, and a layer without any is a view. The network's inputs and outputs aren't
/// moved, apart from a cache: an input may lie in the output.
void place_sub_tensors(const Graph& graph, Lowered& lowered);

}  // namespace accsim::sim
