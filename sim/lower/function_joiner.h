#pragma once
#include <map>
#include <span>
#include <vector>

#include "sim/lower/functions.h"
#include "sim/lower/layers_so_far.h"

namespace accsim::sim {

/// Makes nodes part of the functions of one tensor that they spell out, and those part of products.
class FunctionJoiner {
 public:
  FunctionJoiner(LayersSoFar& layers, std::vector<UnaryFunction> functions);

  /// The function that a node is part of; nullptr if none.
  const UnaryFunction* function_of(NodeId id) const;
  /// Makes the node part of its function, whose last node brings what it costs.
  bool join_node(NodeId id, Layer& l);

 private:
  /// Is all that it does its last node's clip?
  bool is_only_a_clip(const UnaryFunction& f);
  bool finds_only_a_clip(const UnaryFunction& f) const;
  /// Leaves a clip that is all that reads the argument to the product before it.
  bool leave_clip(NodeId id, UnaryFunction& f);
  /// The layer of the product whose results are the function's argument, and nobody else's.
  Layer* product_of(const UnaryFunction& f);
  bool all_affine(std::span<const NodeId> nodes) const;
  void append_function(Layer& l, UnaryFunction f, TensorId result);
  /// A layer of its own, at the function's last node.
  void be_function(Layer& l, const UnaryFunction& f);

  const Graph& graph_;
  LayersSoFar& layers_;
  std::vector<UnaryFunction> functions_;
  std::map<NodeId, UnaryFunction*> function_of_;
  std::map<const UnaryFunction*, bool> only_a_clip_;  ///< of those asked for
};

}  // namespace accsim::sim
