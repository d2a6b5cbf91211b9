#pragma once
#include <optional>
#include <vector>

#include "sim/lower/lower.h"
#include "sim/operators/node_view.h"

namespace accsim::sim {

/// Matrices that a node picks, repeats or else makes of others, and what turns and views them.
struct OperandSource {
  TensorId of = kNoTensor;    ///< what they are made of
  bool turned = false;        ///< their last two dims stand the other way round
  std::vector<NodeId> nodes;  ///< that view, turn and make them; the one that makes them is last
};

/// The second operands of a lowered graph's products, and the layers that make them.
class ProductOperands {
 public:
  /// Both must outlive it.
  ProductOperands(const Graph& graph, Lowered& lowered) : graph_(graph), lowered_(lowered) {}

  const Graph& graph() const { return graph_; }
  const Dims& dims(TensorId id) const { return graph_.tensor(id).dims; }
  Layer& layer(NodeId id) { return lowered_.layers[static_cast<size_t>(id)]; }
  const Layer& layer(NodeId id) const { return lowered_.layers[static_cast<size_t>(id)]; }
  NodeView view_of(NodeId id) const { return {graph_, graph_.nodes[static_cast<size_t>(id)]}; }

  /// How many matrices of its last two dims a tensor has, and these dims; 0 and none below rank 2.
  int64_t matrix_count(TensorId id) const;
  Dims matrix_dims(TensorId id) const;
  /// The node that gives a tensor to a single reader and nobody else; kNoNode when there is none.
  NodeId sole_maker(TensorId id) const;
  /// What a tensor is made of by a node that moves matrices and for which `makes` holds, with only
  /// views and turns of the last two dims behind it, and nobody else to read what is between.
  std::optional<OperandSource> source_of(TensorId id, bool (*makes)(const NodeView&)) const;
  /// The layers do nothing any more: who reads their results reads their inputs.
  void show_as_views(const std::vector<NodeId>& nodes);

 private:
  const Graph& graph_;
  Lowered& lowered_;
};

/// The layer's work, if it is products of matrices that each have a second operand; nullptr else.
GemmOp* product_of_matrices(Layer& layer);
/// Is the layer a Transpose of the last two dims alone?
bool turns_matrices(const Layer& layer, const NodeView& node);

}  // namespace accsim::sim
