#pragma once
#include "sim/operators/op_row.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {

/// A row of two inputs, with one operation for each element of the result.
constexpr OpRow two_operands(ShapeRule shape, OpRow row) {
  row.max_inputs = row.min_inputs = 2;
  row.shape = shape;
  row.cost = variadic_cost;
  return row;
}

// Shape and cost rules of the elementwise operators and activations; elementwise_values.h has the
// values.
/// All inputs of one type and broadcast to one shape, which the output has.
Status arithmetic_shape(InferContext& node);
/// As arithmetic_shape, to booleans.
Status compare_shape(InferContext& node);
/// As input 0, to which the slope must broadcast.
Status prelu_shape(InferContext& node);
/// As input 0; the bounds must be scalars.
Status clip_shape(InferContext& node);
/// Input 0 boolean, the others of one type; all broadcast to one shape.
Status where_shape(InferContext& node);
/// As input 0, in the type that the attribute `to` names.
Status cast_shape(InferContext& node);
/// As input 0, in the type of input 1.
Status cast_like_shape(InferContext& node);
/// As cast_shape; both types must have as many bits.
Status bit_cast_shape(InferContext& node);
/// As arithmetic_shape; the attribute `direction` must be LEFT or RIGHT.
Status bit_shift_shape(InferContext& node);
/// As input 0, and the mask. Errc::unsupported when it would drop elements (training).
Status dropout_shape(InferContext& node);
/// A conversion an element; nothing when the type stays.
Result<Work> cast_cost(const NodeView& node);
/// One compare-select per bound that there is.
Result<Work> clip_cost(const NodeView& node);
/// By erf or, with approximate = tanh, by tanh.
Result<Work> gelu_cost(const NodeView& node);
/// x sigmoid(alpha x): a product an element less when alpha is 1.
Result<Work> swish_cost(const NodeView& node);
/// As input 0, whose shape input 1 must have, too.
Status swiglu_shape(InferContext& node);
/// swish_cost(), and a product an element.
Result<Work> swiglu_cost(const NodeView& node);
/// All the adds, then one scale; nothing for one input.
Result<Work> mean_cost(const NodeView& node);

}  // namespace accsim::sim
