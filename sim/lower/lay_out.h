#pragma once
#include "sim/lower/lower.h"

namespace accsim::sim {

/// Lays the tensors of a lowered graph out in memory (Lowered::layouts), by the LayoutRule of each
/// row of the operator table. Views and transposes leave the bytes where they are, so a transpose
/// has no work any more. If a layer wants an operand in another order, the operand is copied. The
/// transpose or view that it comes from copies it, with or without functions of one tensor in
/// between. Else the layer itself copies it before its own work. Work is counted again in the order
/// in which the operands lie.
void lay_out(const Graph& graph, Lowered& lowered);

}  // namespace accsim::sim
