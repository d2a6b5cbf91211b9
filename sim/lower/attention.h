#pragma once
#include <string_view>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/operators/node_view.h"

namespace accsim::sim {

/// Does the node do an operator of ai.onnx in every run?
bool is_node(const Node& node, std::string_view op);
/// Is a Softmax of rows that are the last dim?
bool is_along_last_axis(const NodeView& softmax);

/// Attention as networks spell it out: scores, which are a product of two computed matrices;
/// scaling and masking; a softmax along the keys; a product with the values. Nobody else reads what
/// is between.
struct Attention {
  NodeId scores = kNoNode, softmax = kNoNode, attended = kNoNode;
  std::vector<NodeId> between;   ///< from the softmax to the scores
  int64_t matrices = 1;          ///< of scores
  int64_t rows = 1, keys = 1;    ///< of one
  int64_t depth = 1, width = 1;  ///< elements of a key, of a value
};
/// Those of a graph, in its order.
std::vector<Attention> find_attentions(const Graph& graph);

}  // namespace accsim::sim
