#pragma once
#include "sim/lower/lower.h"

namespace accsim::sim {

/// Lays the tensors of a lowered graph out in memory, Lowered::layouts, by what each row of the
/// operator table says of its operands (LayoutRule). Views and transposes leave the bytes where
/// they are: a transpose has no work any more. Where a layer wants an operand in another order than
/// it lies in, it is copied: by the transpose or view that it comes from, functions of one tensor
/// in between or not, else by the layer itself before its own work. Work is counted again in the
/// order in which the operands lie.
void lay_out(const Graph& graph, Lowered& lowered);

/// lower(), merge_repeats() and lay_out(), and what lane and row commands make of it: what a
/// machine does.
Result<Lowered> lower_in_memory(const Graph& graph);

}  // namespace accsim::sim
