#pragma once
#include "sim/operators/node_view.h"
#include "sim/work/work.h"

namespace accsim::sim {

// Rules of the convolutions that aren't a plain window product.
Status conv_transpose_rule(InferContext& node);
/// One product per input pixel, then its results scattered and added.
Result<Work> conv_transpose_cost(const NodeView& node);
Status deform_conv_rule(InferContext& node);
/// Bilinear sampling of every kernel position, then a plain product.
Result<Work> deform_conv_cost(const NodeView& node);
Status causal_conv_rule(InferContext& node);
Result<Work> causal_conv_cost(const NodeView& node);

}  // namespace accsim::sim
