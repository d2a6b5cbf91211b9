#pragma once
#include <functional>
#include <string_view>
#include <vector>

#include "sim/base/result.h"
#include "sim/graph/model_def.h"

namespace accsim::sim {

/// Whether a name is defined outside of the list of nodes.
using IsKnown = std::function<bool(std::string_view)>;

/// What a node reads: its inputs, and what its subgraphs take from outside.
std::vector<std::string_view> names_read_by(const NodeDef& node);

/// Indices of `nodes` in topological order. Nodes keep their places, apart from those that stand
/// behind a reader of their results. These come right before the first such reader. A subgraph
/// reads what it takes from outside. Errors (their `where` is the node's label): a name that nobody
/// produces, a tensor that is produced twice or `taken` already, a cycle.
Result<std::vector<size_t>> topological_order(const std::vector<NodeDef>& nodes,
                                              const IsKnown& known, const IsKnown& taken);

}  // namespace accsim::sim
