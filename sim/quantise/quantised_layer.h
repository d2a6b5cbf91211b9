#pragma once
#include <vector>

#include "sim/cost/cost.h"
#include "sim/quantise/function_table.h"
#include "sim/quantise/quantise_weights.h"
#include "sim/ref/array.h"

namespace accsim::sim {

/// A product of the network as the machine runs it: the mapped program, and what quantising its
/// operands needs. Symmetric: zero points are 0.
struct QuantisedLayer {
  size_t layer = 0;                        ///< index in Lowered
  NodeId first = kNoNode, last = kNoNode;  ///< the product's node, and the last one merged into it
  GemmSource source;
  TensorId residual = kNoTensor;  ///< what the post unit adds
};

/// The products of a costed network that run in int8: one GemmOp each, from a Conv, Gemm or MatMul
/// whose operands lie as the program wants them. Others stay in float.
std::vector<QuantisedLayer> quantised_layers(const Graph& graph, const CostedNetwork& network);

/// What one run of a layer reads.
struct LayerOperands {
  const ref::Array &a, &b;  ///< as the node has them
  LayerScales scales;
  const Constants& constants;            ///< of merged nodes: BatchNorm's, biases, of functions
  const ref::Array* residual = nullptr;  ///< of a layer with one, like the output
};

/// Runs the layer's program on the bit-exact machine: operands quantised, the result in float, of
/// the shape of the layer's last output.
Result<ref::Array> run_quantised(const Graph& graph, const CostedNetwork& network,
                                 const QuantisedLayer& layer, const hw::HwConfig& hw,
                                 const LayerOperands& given);

}  // namespace accsim::sim
