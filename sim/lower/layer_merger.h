#pragma once
#include <map>

#include "sim/lower/function_joiner.h"
#include "sim/lower/layers_so_far.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {

/// Makes nodes part of the layers before them: what a product's post unit does besides, and what
/// only passes on.
class LayerMerger {
 public:
  LayerMerger(LayersSoFar& layers, const FunctionJoiner& functions)
      : graph_(layers.graph()), layers_(layers), functions_(functions) {}

  /// Makes the node part of a layer, if it can be; `l` is the node's own.
  bool merge_node(const Node& node, const OpRow& row, Layer& l);

 private:
  bool is_constant_input(const Node& node, size_t port) const;
  /// A BatchNormalization, say: gain and shift per channel, from constants.
  Layer* merge_affine(const Node& node);
  /// A product + a constant vector over its columns, or over the channels of a convolution.
  Layer* merge_bias(const Node& node);
  /// Another sum, difference, product or quotient of a product's results and a constant vector over
  /// its columns or channels, from which its weights and its bias follow.
  Layer* merge_channels(const Node& node);
  /// Is a node that of input `port`, which has the results of the layer's product?
  bool scales_channels(const Node& node, size_t port, Layer& l) const;
  /// Is a constant one number an output channel of the layer's product?
  bool one_a_channel(TensorId id, const Layer& l, const GemmOp& gemm) const;
  /// A sum with a tensor that is there when the product runs: of the two products that a sum can
  /// be part of, the later one's.
  Layer* merge_residual(const Node& node);
  /// May the other input of a sum be added to the results of layer `l`, its input `port`?
  bool can_be_added(const Node& node, size_t port, const Layer& l) const;
  /// A matrix product's rows under other dims, where what reads them can be part of the product: a
  /// function of each element, or a sum with what is there by then. Exporters that know products of
  /// two dims only put such a Reshape behind them.
  Layer* merge_rows(const Node& node);
  bool joins_product(TensorId id, Layer& l) const;
  /// What passes on the results of vector work to a clip, which is to be part of that.
  Layer* merge_before_clip(const Node& node);
  /// Is a clip all that reads the tensor, maybe behind nodes that pass it on?
  bool leads_to_clip(TensorId id);
  Layer* merge_clip(const Node& node);

  const Graph& graph_;
  LayersSoFar& layers_;
  const FunctionJoiner& functions_;
  std::map<TensorId, bool> leads_to_clip_;  ///< of those asked for
};

}  // namespace accsim::sim
