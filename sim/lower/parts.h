#pragma once
#include "sim/lower/lower.h"

namespace accsim::sim {

/// Part `inner` of a tensor that is `outer` itself; `elements` of the part. nullopt where its rows
/// would be pieces of rows.
std::optional<Part> part_of_part(const Part& inner, const Part& outer, int64_t elements);

/// Where the box of a move lies in the input (`cut_out`) or the output, in the order of the other
/// side. It fills so many elements of that side, and its whole is kNoTensor. nullopt where there is
/// no such box, or where it lies in more than rows of one pitch.
std::optional<Part> part_of_move(const MemoryOp& op, bool cut_out, int64_t elements);

/// Makes parts of tensors, Lowered::parts, of what Slice, Split and Concat only move, in a graph
/// laid out whose layers know their lane and row work. What is cut out is read where it lies, and
/// what is put together is written where it belongs. That holds if all readers and writers can work
/// with the pitch (pitched_work()), and if it isn't dearer than a copy. Moves that are left out are
/// no work any more, and a layer without any is a view. The network's inputs and outputs aren't
/// moved, apart from a cache: an input may lie in the output.
void place_parts(const Graph& graph, Lowered& lowered);

}  // namespace accsim::sim
