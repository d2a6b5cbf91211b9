#include <fmt/format.h>

#include "sim/operators/fold.h"
#include "sim/operators/op_table.h"
#include "sim/operators/quant/quant_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

/// The scale is one number, one per index of an axis, or one per block along it.
Status check_scale(const NodeView& node) {
  const Dims &x = node.dims(0), &scale = node.dims(1);
  if (node.has_input(2) && elements(node.dims(2)) != elements(scale))
    return bad_node(node, fmt::format("zero point {} must have the shape of the scale {}",
                                      to_string(node.dims(2)), to_string(scale)));
  if (scale.empty() || scale == Dims{1}) return ok();
  const Result<int64_t> axis = axis_attr(node, 1, node.rank(0));
  if (!axis) return axis.errors();
  const auto at = static_cast<size_t>(*axis);
  const int64_t block = int_attr(node, "block_size", 0);
  if (block < 0) return bad_node(node, fmt::format("attribute 'block_size' is {}", block));
  if (block == 0) {
    if (scale == Dims{x[at]}) return ok();
    return bad_node(node, fmt::format("scale {} must have one element or {}, one per index of axis "
                                      "{}",
                                      to_string(scale), x[at], at));
  }
  Dims blocked = x;
  blocked[at] = ceil_div(x[at], block);
  if (scale == blocked) return ok();
  return bad_node(node, fmt::format("scale {} must be {} for blocks of {} along axis {}",
                                    to_string(scale), to_string(blocked), block, at));
}

Status dynamic_quantize_rule(InferContext& node) {
  if (Status s = set_shape(node, 0, DType::uint8, node.dims(0)); !s) return s;
  if (Status s = set_if_wanted(node, 1, DType::float32, {}); !s) return s;
  return set_if_wanted(node, 2, DType::uint8, {});
}

Result<Work> dynamic_quantize_cost(const NodeView& node) {
  const int64_t count = input_size(node, 0);
  VectorOp op = vector_op(node);
  op[VectorClass::reduce] = capped_product({2, count});  // least and largest
  op[VectorClass::convert] = count;
  op.row = count > 0 ? count : 1;
  op.passes = 2;
  return checked_work(node, {op});
}

}  // namespace

Status quantize_rule(InferContext& node) {
  if (Status s = check_scale(node); !s) return s;
  DType type = DType::uint8;
  if (node.has_input(2)) {
    type = node.dtype(2);
  } else if (int_attr(node, "output_dtype", 0) != 0) {
    const Result<DType> stated = dtype_attr(node, "output_dtype", type);
    if (!stated) return stated.errors();
    type = *stated;
  }
  return set_shape(node, 0, type, node.dims(0));
}

Status dequantize_rule(InferContext& node) {
  if (Status s = check_scale(node); !s) return s;
  DType type = node.dtype(1);
  if (int_attr(node, "output_dtype", 0) != 0) {
    const Result<DType> stated = dtype_attr(node, "output_dtype", type);
    if (!stated) return stated.errors();
    type = *stated;
  }
  return set_shape(node, 0, type, node.dims(0));
}

Status dequantize_value(InferContext& node) {
  constexpr int kWidest = 16;  // so that a double holds all products
  if (!can_fold(node) || is_float(node.dtype(0)) || bits(node.dtype(0)) > kWidest) return ok();
  if (input_size(node, 1) != 1 || !is_float(node.dtype(1))) return ok();
  const double scale = read_as<double>(*node.value(1))[0];
  const double zero = node.has_input(2) ? read_as<double>(*node.value(2))[0] : 0;
  std::vector<double> reals = read_as<double>(*node.value(0));
  for (double& v : reals) v = (v - zero) * scale;
  store_results(node, 0, reals);
  return ok();
}

Result<Work> quantize_cost(const NodeView& node) {
  VectorOp op;
  read_input(node, 0, op.inputs);
  for (size_t i : {size_t{1}, size_t{2}})
    if (input_size(node, i) > 1) read_input(node, i, op.inputs);
  write_output(node, 0, op.outputs);
  op[VectorClass::convert] = input_size(node, 0);
  return checked_work(node, {op});
}

namespace {

constexpr OpRow kQuantOperators[] = {
    {.name = "QuantizeLinear",
     .since = 10,
     .ports = {{"x"},
               {"y_scale", PortRole::weight_scale, kResult},
               {"y_zero_point", PortRole::zero_point, kResult}},
     .min_inputs = 2,
     .attributes = {"axis", "block_size", "output_dtype", "precision", "saturate"},
     .shape = quantize_rule,
     .cost = quantize_cost,
     .lie = LayoutRule::alike,
     .codes = Codes::makes},
    {.name = "DequantizeLinear",
     .since = 10,
     .ports = {{"x", PortRole::parameter},
               {"x_scale", PortRole::weight_scale, 0},
               {"x_zero_point", PortRole::zero_point, 0}},
     .min_inputs = 2,
     .attributes = {"axis", "block_size", "output_dtype"},
     .shape = dequantize_rule,
     .value = dequantize_value,
     .cost = quantize_cost,
     .lie = LayoutRule::alike,
     .codes = Codes::takes},
    {.name = "DynamicQuantizeLinear",
     .since = 11,
     .shape = dynamic_quantize_rule,
     .cost = dynamic_quantize_cost,
     .codes = Codes::measures},
};

}  // namespace

std::span<const OpRow> quant_rows() { return kQuantOperators; }

}  // namespace accsim::sim
