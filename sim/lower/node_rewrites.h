#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/lower/rebuilt_graph.h"

namespace accsim::sim {

/// Version of ai.onnx of nodes that are added.
inline constexpr int64_t kPlainOpset = 13;

/// Nodes of a graph that others take the place of. Rules note what they want; take_graph() makes
/// the graph anew.
class NodeRewrites {
 public:
  /// Adds nodes, the last of which gives what the last replaced node gave.
  using Adder = std::function<void(RebuiltGraph&)>;

  explicit NodeRewrites(const Graph& graph);

  const Graph& graph() const { return graph_; }
  const Node& node(NodeId id) const { return graph_.nodes[static_cast<size_t>(id)]; }
  const Dims& dims(TensorId id) const { return graph_.tensor(id).dims; }
  /// The node that makes a tensor in each run; nullptr: none does.
  const Node* maker_of(TensorId id) const;
  NodeId id_of(const Node& node) const { return static_cast<NodeId>(&node - graph_.nodes.data()); }
  const std::vector<NodeId>& readers_of(TensorId id) const {
    return readers_[static_cast<size_t>(id)];
  }
  bool is_output(TensorId id) const { return is_output_[static_cast<size_t>(id)]; }
  /// The one node that reads a tensor which the graph doesn't give; nullptr: there is none.
  const Node* sole_reader_of(TensorId id) const;

  /// The nodes go, in the place of the last of them comes what `add` adds. False where one of them
  /// has gone already. Tensors between them are read by nobody else.
  bool replace_nodes(const std::vector<NodeId>& nodes, Adder add);
  /// Each node is replaced by what its own function adds. False where one of them has gone already.
  bool replace_each(const std::map<NodeId, Adder>& nodes);

  /// Is nothing replaced?
  bool is_empty() const { return adders_.empty(); }
  /// The graph with all that was noted.
  Graph take_graph() const;

 private:
  bool is_taken(NodeId id) const { return adders_.contains(id); }

  const Graph& graph_;
  const std::vector<std::vector<NodeId>> readers_;
  std::vector<bool> is_output_;     ///< by tensor
  std::map<NodeId, Adder> adders_;  ///< by node that goes: an empty one adds nothing
};

/// A constant's elements in an order along an axis: those of `order`, some maybe more than once or
/// never. Integers that stand for reals keep what they stand for.
TensorId ordered_constant(RebuiltGraph& graph, TensorId of, int64_t axis,
                          const std::vector<int64_t>& order, const std::string& name);
/// A constant under other dims of as many elements.
TensorId reshaped(RebuiltGraph& graph, TensorId of, Dims dims, const std::string& name);
/// `of` under other dims, as the last node: it gives `out`.
void reshape_into(RebuiltGraph& graph, TensorId of, TensorId out, const std::string& name);
/// A tensor's transpose: dim i is its dim perm[i].
TensorId transposed(RebuiltGraph& graph, TensorId of, const std::vector<int64_t>& perm,
                    const std::string& name);

}  // namespace accsim::sim
