#pragma once
#include "sim/operators/op_row.h"
#include "sim/quantise/function_table.h"
#include "sim/quantise/quantise_weights.h"
#include "sim/ref/array.h"

namespace accsim::sim {

/// How the stored weights of a product's node lie.
WeightLayout weights_lie(const Node& node);
/// Is it a product over windows, or of each channel by itself, its weights by output and channel?
bool is_convolution(const Node& node);
/// Is a Gemm's operand turned by this attribute?
bool is_turned(const Graph& graph, const Node& node, const char* attribute);

/// A layer's product in its network.
struct LayerProduct {
  const Graph& graph;
  const Lowered& lowered;
  size_t layer = 0;
  const GemmOp& op;
  /// Of element i of a row of A, as rows lie in memory, its place by the dims; empty: the same.
  std::vector<int64_t> row_order = {};
};

/// The layer's weights with its bias and what has been merged into it (BatchNorm, sums with
/// constants), its function left out. `b`: the second operand; of one that is computed at run time
/// any elements will do.
Result<RealWeights> folded_weights(const LayerProduct& product, const ref::Array& b,
                                   const Constants& constants);

/// Makes an affine function of the layer's results, which lie between -reach and reach, a matter of
/// weights and biases. Weights that are quantised already stay as they are: every sum has a factor.
Status fold_affine(const Graph& graph, const Layer& layer, const Constants& constants, double reach,
                   bool quantised, RealWeights& weights);

}  // namespace accsim::sim
