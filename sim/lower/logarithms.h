#pragma once
#include <map>

#include "sim/lower/lower.h"

namespace accsim::sim {

/// ReduceLogSumExp along the last axis of a tensor that a Softmax reads, too, along the same axis:
/// the Softmax by the node, one of each. Its row command gives both.
std::map<NodeId, NodeId> softmax_logarithms(const Graph& graph);

/// Makes each of them the second output of the Softmax' layer, patterns having been merged.
void merge_logarithms(const Graph& graph, const std::map<NodeId, NodeId>& logarithms,
                      Lowered& lowered);

}  // namespace accsim::sim
