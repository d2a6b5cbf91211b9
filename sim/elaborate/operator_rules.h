#pragma once
#include "sim/base/result.h"
#include "sim/elaborate/budget.h"
#include "sim/graph/graph.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {

/// Runs an operator's rules over node `id` of `graph`, whose inputs are known and whose outputs
/// have only names. Checks the inputs against the row, and sets the outputs' types and shapes. Says
/// whether the node is folded, and computes constants as far as `budget` goes. Errors have a
/// `where` only if the rule has given one.
Status apply_rules(const OpRow& row, Graph& graph, NodeId id, Budget& budget);

}  // namespace accsim::sim
