#pragma once
#include "sim/graph/graph.h"
#include "sim/lower/lower.h"

namespace accsim::sim {

/// Products with constant matrices that indices pick: experts of a mixture. A Gather picks whole
/// matrices, behind which views and a Transpose of the last two dims may stand. Such a product
/// loads its weights from where they lie, and the Gather becomes a view. Rows that go to one matrix
/// are multiplied together, each matrix that is picked is read once: as many are as the value of
/// the indices says, else as the graph assumes for the Gather (kExpertsAtWork). Which ones they are
/// changes no cost, so they are the first. Only where nobody else reads what is between.
void merge_expert_gathers(const Graph& graph, Lowered& lowered);

}  // namespace accsim::sim
