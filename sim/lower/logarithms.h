#pragma once
#include <map>
#include <vector>

#include "sim/lower/lower.h"

namespace accsim::sim {

/// ReduceLogSumExp along the last axis of a tensor that a Softmax reads, too, along the same axis:
/// the Softmax by the node, one of each. Its row command gives both.
/// `readers`: consumers_by_tensor() of the graph.
std::map<NodeId, NodeId> softmax_logarithms(const Graph& graph,
                                            const std::vector<std::vector<NodeId>>& readers);

/// Makes each of them the second output of the Softmax' layer, patterns having been merged.
void merge_logarithms(const Graph& graph, Lowered& lowered);

}  // namespace accsim::sim
