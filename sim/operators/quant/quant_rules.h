#pragma once
#include "sim/operators/node_view.h"
#include "sim/work/work.h"

namespace accsim::sim {

// QuantizeLinear and DequantizeLinear, ai.onnx and com.microsoft.
/// QuantizeLinear: output as input 0, in the type of the zero point or of attribute
/// output_dtype. The scale is one number, one a slice or one a block.
Status quantize_rule(InferContext& node);
/// DequantizeLinear: output as input 0, in the type of the scale or of attribute output_dtype.
Status dequantize_rule(InferContext& node);
/// DequantizeLinear of integers of at most 16 bits by one scale; sets nothing of others.
Status dequantize_value(InferContext& node);
/// One conversion an element; scales and zero points count as traffic when not per tensor.
Result<Work> quantize_cost(const NodeView& node);

}  // namespace accsim::sim
