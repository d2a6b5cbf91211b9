#pragma once
#include <cstdint>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {

/// What a node does with integers that stand for reals.
enum class CodeUse : uint8_t {
  none,  ///< nothing that is known
  makes,
  takes,
  works,  ///< an operator that has a form on reals
  moves,  ///< the same numbers elsewhere
};

/// By node. All integers of 8 and 16 bits that vary from run to run stand for reals but those that
/// a node knows nothing of, and those that such ones share a node with: these nodes have no use.
std::vector<CodeUse> code_uses(const Graph& graph);

/// Has a tensor integers of a type that may stand for reals? kNoTensor has none.
bool is_code(const Graph& graph, TensorId id);
/// Integers of a run?
inline bool is_varying_code(const Graph& graph, TensorId id) {
  return is_code(graph, id) && !graph.tensor(id).constant;
}
/// Is an input absent, or the same in every run?
inline bool is_fixed_input(const Node& node, size_t port, const Graph& graph) {
  return port >= node.inputs.size() || node.inputs[port] == kNoTensor ||
         graph.tensor(node.inputs[port]).constant;
}

/// Visits what a node reads and writes of integers of a run, but scales and zero points.
template <class Visit>
void each_code(const Graph& graph, const Node& node, Visit visit) {
  const OpRow* row = find_op(node);
  for (size_t port = 0; port < node.inputs.size(); ++port)
    if (!(row && row->is_quantisation(port)) && is_varying_code(graph, node.inputs[port]))
      visit(node.inputs[port]);
  for (const TensorId id : node.outputs)
    if (is_varying_code(graph, id)) visit(id);
}

}  // namespace accsim::sim
