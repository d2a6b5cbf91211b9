#pragma once
#include <string>
#include <vector>

#include "sim/base/result.h"
#include "sim/graph/graph.h"

namespace accsim::sim {

/// Which part of a graph is meant. Nodes are said by their names or by a tensor that they write.
struct GraphCut {
  std::string from{};   ///< this node and those that depend on it; "": all
  std::string until{};  ///< this node and those that it depends on; "": all
  bool empty() const { return from.empty() && until.empty(); }
};

/// The node of that name, or that writes the tensor of that name. Errc::usage, about `option`, when
/// there is none.
Result<NodeId> find_node(const Graph& graph, const std::string& name, const char* option);

/// The error of a cut whose `until` doesn't depend on its `from`.
Error not_behind(const GraphCut& cut);

/// Leaves of a graph what `cut` says, and what computes constants for it. What it reads of other
/// nodes are inputs behind those that it had; what it gives are the outputs of `until`, or else
/// those of the graph's outputs that it has, or else what nobody reads. Gives the nodes that are
/// left by their ids before. Errc::usage when there is no such node, or `until` doesn't depend on
/// `from`.
Result<std::vector<NodeId>> cut_graph(Graph& graph, const GraphCut& cut);

}  // namespace accsim::sim
