#include <fmt/format.h>

#include <algorithm>

#include "sim/operators/contrib/contrib_rules.h"
#include "sim/operators/norm/norm_rules.h"
#include "sim/operators/pool/pool_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

/// Only data goes over the bus: scales and zero points are single numbers.
VectorOp data_op(const NodeView& node, std::initializer_list<size_t> inputs) {
  VectorOp op;
  for (size_t i : inputs) read_input(node, i, op.inputs);
  write_output(node, 0, op.outputs);
  return op;
}

bool channels_last(const NodeView& node) { return int_attr(node, "channels_last", 0) != 0; }

}  // namespace

Status qlinear_binary_rule(InferContext& node) {
  if (Status s = want_input(node, 3, "B"); !s) return s;
  std::optional<Dims> out = broadcast(node.dims(0), node.dims(3));
  if (!out)
    return bad_node(node, fmt::format("inputs {} and {} don't broadcast", to_string(node.dims(0)),
                                      to_string(node.dims(3))));
  return set_shape(node, 0, node.dtype(0), std::move(*out));
}

Result<Work> qlinear_binary_cost(const NodeView& node) {
  VectorOp op = data_op(node, {0, 3});
  op[VectorClass::elementwise] = output_size(node, 0);
  op[VectorClass::convert] = times({3, output_size(node, 0)});  // both operands and the result
  return checked_work(node, {op});
}

Result<Work> qlinear_sigmoid_cost(const NodeView& node) {
  VectorOp op = data_op(node, {0});
  op[VectorClass::special] = output_size(node, 0);
  op[VectorClass::convert] = times({2, output_size(node, 0)});
  return checked_work(node, {op});
}

Result<Work> qlinear_leaky_relu_cost(const NodeView& node) {
  VectorOp op = data_op(node, {0});
  op[VectorClass::elementwise] = times({2, output_size(node, 0)});
  op[VectorClass::convert] = times({2, output_size(node, 0)});
  return checked_work(node, {op});
}

Result<Work> qlinear_softmax_cost(const NodeView& node) {
  if (node.rank(0) == 0) return checked_work(node, {data_op(node, {0})});
  const Result<int64_t> axis = axis_attr(node, -1, node.rank(0));
  if (!axis) return axis.errors();
  VectorOp op = norm_op(node, node.dims(0)[static_cast<size_t>(*axis)]);
  op[VectorClass::special] = plus(op[VectorClass::special], output_size(node, 0));
  op[VectorClass::convert] = times({2, output_size(node, 0)});
  return checked_work(node, {op});
}

// --- QLinearConcat: scale and zero point of the output, then (data, scale, zero point) each ---

Status qlinear_concat_rule(InferContext& node) {
  if (node.input_count() < 5 || (node.input_count() - 2) % 3 != 0)
    return bad_node(node, fmt::format("{} inputs don't make 2 plus triples", node.input_count()));
  for (size_t i = 2; i < node.input_count(); i += 3)
    if (Status s = want_input(node, i, "data"); !s) return s;
  Dims out = node.dims(2);
  const Result<int64_t> axis = axis_attr(node, 1, node.rank(2));
  if (!axis) return axis.errors();
  const auto at = static_cast<size_t>(*axis);
  for (size_t i = 5; i < node.input_count(); i += 3) {
    Dims part = node.dims(i);
    if (part.size() == out.size()) {
      const std::optional<int64_t> sum = size_sum(out[at], part[at]);
      if (!sum) return bad_node(node, "the concatenated dim is too large");
      out[at] = part[at] = *sum;
    }
    if (part != out)
      return bad_node(node, fmt::format("input {} of shape {} can't be joined along axis {}", i,
                                        to_string(node.dims(i)), at));
  }
  return set_shape(node, 0, node.dtype(2), std::move(out));
}

Result<Work> qlinear_concat_cost(const NodeView& node) {
  VectorOp op;
  for (size_t i = 2; i < node.input_count(); i += 3) read_input(node, i, op.inputs);
  write_output(node, 0, op.outputs);
  op[VectorClass::convert] = output_size(node, 0);
  return checked_work(node, {op});
}

// --- Pooling ---

Status qlinear_global_pool_rule(InferContext& node) {
  if (!channels_last(node)) return global_pool_rule(node);
  if (Status s = want_rank_from(node, 0, 2); !s) return s;
  Dims out = node.dims(0);
  std::fill(out.begin() + 1, out.end() - 1, 1);
  return set_shape(node, 0, node.dtype(0), std::move(out));
}

Result<Work> qlinear_global_pool_cost(const NodeView& node) {
  VectorOp op = data_op(node, {0});
  op[VectorClass::pool] = input_size(node, 0);
  op[VectorClass::convert] = output_size(node, 0);
  return checked_work(node, {op});
}

Status qlinear_average_pool_rule(InferContext& node) {
  return pool_outputs(node, channels_last(node));
}

Result<Work> qlinear_average_pool_cost(const NodeView& node) {
  Result<Work> pooled = pool_work(node, channels_last(node));
  if (!pooled) return pooled;
  VectorOp op = data_op(node, {0});
  op[VectorClass::pool] = std::get<VectorOp>(pooled->front())[VectorClass::pool];
  op[VectorClass::convert] = output_size(node, 0);
  return checked_work(node, {op});
}

Status nhwc_max_pool_rule(InferContext& node) { return pool_outputs(node, true); }
Result<Work> nhwc_max_pool_cost(const NodeView& node) { return pool_work(node, true); }

}  // namespace accsim::sim
