#pragma once
#include "sim/operators/node_view.h"
#include "sim/work/work.h"

namespace accsim::sim {

// Rules of the convolutions that aren't a plain window product.
/// ConvTranspose: N x C x spatial to N x outputs x spatial, by strides, pads, output_padding or
/// output_shape.
Status conv_transpose_rule(InferContext& node);
/// One product per input pixel, then its results scattered and added.
Result<Work> conv_transpose_cost(const NodeView& node);
/// DeformConv: as Conv; offsets and mask must have a value for every kernel tap of every
/// output.
Status deform_conv_rule(InferContext& node);
/// Bilinear sampling of every kernel position, then a plain product.
Result<Work> deform_conv_cost(const NodeView& node);
/// CausalConvWithState: depthwise along the last dim of N x C x L; output 1 keeps the last
/// kernel - 1 columns.
Status causal_conv_rule(InferContext& node);
/// A product of one channel a group, the activation as vector work, and the copy of the state.
Result<Work> causal_conv_cost(const NodeView& node);

}  // namespace accsim::sim
