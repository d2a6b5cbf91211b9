#pragma once
#include "sim/operators/node_view.h"
#include "sim/work/work.h"

namespace accsim::sim {

// QuantizeLinear and DequantizeLinear, ai.onnx and com.microsoft.
Status quantize_rule(InferContext& node);
Status dequantize_rule(InferContext& node);
/// One conversion an element; scales and zero points count as traffic when not per tensor.
Result<Work> quantize_cost(const NodeView& node);

}  // namespace accsim::sim
