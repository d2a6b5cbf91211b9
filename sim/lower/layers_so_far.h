#pragma once
#include <map>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/lower/lower.h"

namespace accsim::sim {

/// The layers of the nodes up to one, and who has written what.
class LayersSoFar {
 public:
  explicit LayersSoFar(const Graph& graph);

  const Graph& graph() const { return graph_; }
  const Node& node(NodeId id) const { return graph_.nodes[static_cast<size_t>(id)]; }
  /// Nodes that read a tensor.
  const std::vector<NodeId>& readers_of(TensorId id) const {
    return out_.readers[static_cast<size_t>(id)];
  }
  bool is_output(TensorId id) const { return is_output_[static_cast<size_t>(id)]; }

  /// The next layer; it owns its outputs where it does work.
  void add_layer(Layer l);
  int64_t layer_count() const { return std::ssize(out_.layers); }
  int index_of(const Layer& l) const { return static_cast<int>(&l - out_.layers.data()); }
  Layer& layer_at(size_t i) { return out_.layers[i]; }
  /// From now on a layer writes this instead of its first output.
  void set_layer_output(Layer& l, TensorId id);
  /// The layer that does the work that a tensor is made by; nullptr if none.
  Layer* owner_of(TensorId id);
  /// The layer whose only reader of its first output is `node`'s input `port`; nullptr if none.
  Layer* sole_producer(const Node& node, size_t port);

  Lowered& lowered() { return out_; }

 private:
  const Graph& graph_;
  Lowered out_;
  std::map<NodeId, NodeId> logarithms_;  ///< softmax_logarithms()
  std::vector<int> owner_;               ///< layer that writes a tensor, -1: none that does work
  std::vector<bool> is_output_;
};

/// The layer's product when it ends in one.
GemmOp* last_product(Layer* l);
/// A bias port for products that had none: any port will do, the bias is read with the weights.
void give_bias(GemmOp& gemm);
/// Does a node give the numbers that it reads, as an Identity does?
bool passes_on(const Node& node);

}  // namespace accsim::sim
