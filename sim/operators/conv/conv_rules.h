#pragma once
#include "sim/operators/conv/sliding_window.h"
#include "sim/operators/node_view.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// Where a convolution has its operands. Weights are out x in/groups x kernel.
struct ConvPorts {
  size_t x = 0, w = 1;
  int bias = 2;                ///< -1: the operator has none
  bool channels_last = false;  ///< x and the output are N, spatial, C
  bool weights_last = false;   ///< weights are out x kernel x in/groups
};

/// Sizes of a convolution, as conv_shape() has checked them.
struct ConvShape {
  int64_t images = 0, in_channels = 0, out_channels = 0, groups = 1;
  SlidingWindow window;

  Dims output_dims(bool channels_last) const;
};

/// Checks attributes and operands of a convolution against each other.
Result<ConvShape> conv_shape(const NodeView& node, const ConvPorts& ports);
/// The one product a convolution is.
GemmOp conv_gemm(const NodeView& node, const ConvShape& shape, const ConvPorts& ports);

// Rules of ai.onnx operators that the com.microsoft variants share.
/// Conv: N x outputs x spatial, in the type of x.
Status conv_rule(InferContext& node);
/// One GemmOp, a batch entry a group.
Result<Work> conv_cost(const NodeView& node);

}  // namespace accsim::sim
