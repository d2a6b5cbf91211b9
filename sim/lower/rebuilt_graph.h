#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sim/graph/graph.h"

namespace accsim::sim {

/// A graph that is made anew of another one, some of whose nodes are replaced by others. Tensors
/// keep their ids, those that are added come behind them. Nodes are added in topological order.
class RebuiltGraph {
 public:
  explicit RebuiltGraph(const Graph& graph);

  /// The graph that it is made of.
  const Graph& before() const { return before_; }
  const Node& node(NodeId id) const { return before_.nodes[static_cast<size_t>(id)]; }
  /// Added ones, too.
  const Tensor& tensor(TensorId id) const { return out_.tensor(id); }
  const Dims& dims(TensorId id) const { return out_.tensor(id).dims; }

  /// The next node is this one, as it is.
  void keep_node(NodeId id) { out_.nodes.push_back(node(id)); }
  /// The next node is this one with other inputs.
  void keep_node_with(NodeId id, std::vector<TensorId> inputs) {
    keep_node(id);
    out_.nodes.back().inputs = std::move(inputs);
  }
  /// Operators that are added from now on are part of what this node does.
  void begin_part_of(NodeId id) { part_of_ = id; }

  /// Of another one's type, until a node gives it.
  TensorId add_tensor(const Tensor& like, std::string name, Dims dims);
  TensorId add_constant(std::string name, DType dtype, Dims dims, ConstData value);
  /// What the integers of an added tensor stand for.
  void set_quantisation(TensorId id, const Quantisation& q) { out_.tensor(id).quantisation = q; }
  /// A node like another one, of the tensors given; folded where all of these are constant.
  void add_node(const Node& like, std::string name, std::vector<TensorId> inputs,
                std::vector<TensorId> outputs);
  /// An operator of ai.onnx with one result, of its first input's type.
  TensorId add_operator(const char* op, int64_t opset, const std::string& name,
                        std::vector<TensorId> inputs, Dims result,
                        std::vector<Attribute> attributes);
  /// One for add_node().
  Node new_operator(const char* op, int64_t opset, std::vector<Attribute> attributes) const;

  /// The graph, without nodes that somebody read and nobody does now. Of a tensor that no node
  /// writes any more nothing is left but its name; it stops the program if one reads it.
  Graph take_graph();

 private:
  void drop_unread();

  const Graph& before_;
  Graph out_;
  NodeId part_of_ = kNoNode;
};

}  // namespace accsim::sim
