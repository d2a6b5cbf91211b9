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

/// Leaves the nodes of a graph that `cut` names, and the nodes that compute constants for them.
/// Tensors that they read from other nodes become inputs, behind the inputs that the graph had. The
/// outputs are those of `until`; else the graph's outputs among the results; else all results that
/// nobody reads. Returns the ids that the remaining nodes had before. Errc::usage when there is no
/// such node, or when `until` doesn't depend on `from`.
Result<std::vector<NodeId>> cut_graph(Graph& graph, const GraphCut& cut);

}  // namespace accsim::sim
