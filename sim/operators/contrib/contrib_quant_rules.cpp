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
  std::optional<Dims> out = broadcast_dims(node.dims(0), node.dims(3));
  if (!out)
    return bad_node(node, fmt::format("inputs {} and {} don't broadcast", to_string(node.dims(0)),
                                      to_string(node.dims(3))));
  return set_shape(node, 0, node.dtype(0), std::move(*out));
}

Result<Work> qlinear_binary_cost(const NodeView& node) {
  VectorOp op = data_op(node, {0, 3});
  op[VectorClass::elementwise] = output_size(node, 0);
  op[VectorClass::convert] =
      capped_product({3, output_size(node, 0)});  // both operands and the result
  return checked_work(node, {op});
}

Result<Work> qlinear_sigmoid_cost(const NodeView& node) {
  VectorOp op = data_op(node, {0});
  op[VectorClass::special] = output_size(node, 0);
  op[VectorClass::convert] = capped_product({2, output_size(node, 0)});
  return checked_work(node, {op});
}

Result<Work> qlinear_leaky_relu_cost(const NodeView& node) {
  VectorOp op = data_op(node, {0});
  op[VectorClass::elementwise] = capped_product({2, output_size(node, 0)});
  op[VectorClass::convert] = capped_product({2, output_size(node, 0)});
  return checked_work(node, {op});
}

Result<Work> qlinear_softmax_cost(const NodeView& node) {
  if (node.rank(0) == 0) return checked_work(node, {data_op(node, {0})});
  const Result<int64_t> axis = axis_attr(node, -1, node.rank(0));
  if (!axis) return axis.errors();
  VectorOp op = norm_op(node, node.dims(0)[static_cast<size_t>(*axis)]);
  op[VectorClass::special] = capped_sum(op[VectorClass::special], output_size(node, 0));
  op[VectorClass::convert] = capped_product({2, output_size(node, 0)});
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

// --- QLinearWhere ---

Status qlinear_where_rule(InferContext& node) {
  for (const auto& [i, name] : {std::pair<size_t, std::string_view>{1, "X"}, {4, "Y"}})
    if (Status s = want_input(node, i, name); !s) return s;
  std::optional<Dims> both = broadcast_dims(node.dims(1), node.dims(4));
  if (both) both = broadcast_dims(node.dims(0), *both);
  if (!both)
    return bad_node(node,
                    fmt::format("inputs {}, {} and {} don't broadcast", to_string(node.dims(0)),
                                to_string(node.dims(1)), to_string(node.dims(4))));
  return set_shape(node, 0, node.dtype(1), std::move(*both));
}

Result<Work> qlinear_where_cost(const NodeView& node) {
  VectorOp op = data_op(node, {0, 1, 4});
  op[VectorClass::elementwise] = op[VectorClass::convert] = output_size(node, 0);
  return checked_work(node, {op});
}

// --- GatherBlockQuantized ---

namespace {

/// Dims of the numbers that a table holds, several in a byte.
Dims table_dims(const NodeView& node) {
  Dims dims = node.dims(0);
  const int64_t width = int_attr(node, "bits", 4);
  if (bits(node.dtype(0)) == 8 && width > 0 && width < 8 && !dims.empty())
    dims.back() = capped_product({dims.back(), 8 / width});
  return dims;
}

/// Zero points are packed as the table is.
Status check_zero_points(const NodeView& node, Dims scales) {
  if (!node.has_input(3)) return ok();
  const int64_t width = int_attr(node, "bits", 4);
  if (node.dtype(3) != node.dtype(0))
    return bad_node(node, "zero points must have the type of the table");
  if (bits(node.dtype(3)) == 8) scales.back() = ceil_div(capped_product({scales.back(), width}), 8);
  if (node.dims(3) == scales) return ok();
  return bad_node(
      node, fmt::format("zero points {} must be {}", to_string(node.dims(3)), to_string(scales)));
}

}  // namespace

Status gather_blocks_rule(InferContext& node) {
  const Dims table = table_dims(node);
  const int64_t rank = node.rank(0), width = int_attr(node, "bits", 4);
  if (Status s = want_rank_from(node, 0, 1); !s) return s;
  const int64_t at = int_attr(node, "gather_axis", 0), along = int_attr(node, "quantize_axis", 1);
  if (width != 2 && width != 4 && width != 8)
    return bad_node(node, fmt::format("attribute 'bits' is {}, not 2, 4 or 8", width));
  const DType type = node.dtype(0);
  if (type != DType::uint8 && type != DType::int8 && type != DType::uint4 && type != DType::int4)
    return bad_node(node, fmt::format("data of type {} are no table", name(type)));
  if (at < -rank || at >= rank || along < -rank || along >= rank)
    return bad_node(node, fmt::format("gather_axis {} and quantize_axis {} must be dims of {}", at,
                                      along, to_string(table)));
  Dims scales = table;
  int64_t& blocked = scales[static_cast<size_t>(along < 0 ? along + rank : along)];
  blocked = ceil_div(blocked, std::max<int64_t>(1, int_attr(node, "block_size", 128)));
  if (node.dims(2) != scales)
    return bad_node(
        node, fmt::format("scales {} must be {}", to_string(node.dims(2)), to_string(scales)));
  if (!holds_integers(node.dtype(1))) return bad_node(node, "indices must be integers");
  if (Status s = check_zero_points(node, scales); !s) return s;
  const auto axis = static_cast<ptrdiff_t>(at < 0 ? at + rank : at);
  Dims out(table.begin(), table.begin() + axis);
  out.insert(out.end(), node.dims(1).begin(), node.dims(1).end());
  out.insert(out.end(), table.begin() + axis + 1, table.end());
  return set_shape(node, 0, node.dtype(2), std::move(out));
}

namespace {

/// Slices of a tensor of those dims that the indices pick along dim `axis`, read at port i.
void read_picked(const NodeView& node, size_t i, const Dims& dims, size_t axis,
                 std::vector<Access>& to) {
  const int64_t run = elements(dims, axis + 1, dims.size());
  read_part(node, i, capped_product({elements(dims, 0, axis), input_size(node, 1), run}), run, to);
}

/// Rows as they are stored, and then what they stand for by the scales and zero points of them.
Result<Work> unpacked_in_the_run(const NodeView& node, size_t axis) {
  MemoryOp rows;
  read_picked(node, 0, node.dims(0), axis, rows.inputs);
  VectorOp unpack;
  if (!rows.inputs.empty()) {
    rows.outputs.push_back({ValuePort::made(0, 0), rows.inputs[0].elements, 0});
    unpack.inputs = rows.outputs;
  }
  read_input(node, 1, rows.inputs);
  for (size_t i = 2; i < node.input_count(); ++i)
    if (node.has_input(i)) read_picked(node, i, node.dims(i), axis, unpack.inputs);
  write_output(node, 0, unpack.outputs);
  unpack[VectorClass::convert] = output_size(node, 0);
  return checked_work(node, {rows, unpack});
}

}  // namespace

Result<Work> gather_blocks_cost(const NodeView& node) {
  const Dims table = table_dims(node);
  const int64_t at = int_attr(node, "gather_axis", 0);
  const auto axis = static_cast<size_t>(at < 0 ? at + node.rank(0) : at);
  // Constants are unpacked off line, into the machine's own type.
  for (const size_t i : {size_t{0}, size_t{2}, size_t{3}})
    if (node.has_input(i) && !node.input(i).constant) return unpacked_in_the_run(node, axis);
  MemoryOp op;
  read_picked(node, 0, table, axis, op.inputs);
  read_input(node, 1, op.inputs);
  write_output(node, 0, op.outputs);
  op.picked = {elements(table, 0, axis), table[axis], elements(table, axis + 1, table.size()),
               input_size(node, 1)};
  return checked_work(node, {op});
}

// --- Reductions ---

Result<Work> qlinear_reduce_mean_cost(const NodeView& node) {
  const int64_t inputs = input_size(node, 0), outputs = output_size(node, 0);
  VectorOp op = data_op(node, {0});
  op[VectorClass::reduce] = inputs;
  op[VectorClass::convert] = outputs;
  op.row = outputs > 0 ? std::max<int64_t>(inputs / outputs, 1) : 1;
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
