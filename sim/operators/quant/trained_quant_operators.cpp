#include <fmt/format.h>

#include "sim/operators/names.h"
#include "sim/operators/op_table.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

/// Operators of networks that were trained in few bits.

/// Output as input 0, to which scale and zero point broadcast; the bit width is one number.
Status quant_shape(InferContext& node) {
  const Dims& x = node.dims(0);
  for (const size_t i : {size_t{1}, size_t{2}})
    if (broadcast_dims(node.dims(i), x) != x)
      return bad_node(node, fmt::format("input {} of shape {} doesn't broadcast to {}", i,
                                        to_string(node.dims(i)), to_string(x)));
  if (elements(node.dims(3)) != 1) return bad_node(node, "the bit width must be one number");
  return same_shape(node);
}

/// Thresholds are rows, one for all channels or one each; channels are the last dim of NHWC.
Status thresholds_shape(InferContext& node) {
  if (Status s = want_rank_from(node, 0, 2); !s) return s;
  if (Status s = want_rank(node, 1, 2); !s) return s;
  const Dims& x = node.dims(0);
  const int64_t channels = node.attr("data_layout", "NCHW").ends_with('C') ? x.back() : x[1];
  const int64_t rows = node.dims(1)[0];
  if (rows != 1 && rows != channels)
    return bad_node(node,
                    fmt::format("{} rows of thresholds don't go with {} channels", rows, channels));
  return same_shape(node);
}

/// A binary search among the thresholds, then scale and bias.
Result<Work> thresholds_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  VectorOp op = vector_op(node);
  const int64_t all = output_size(node, 0);
  op[VectorClass::search] = capped_product({all, bisection_steps(node.dims(1)[1])});
  const int64_t scaled = real_attr(node, "out_scale", 1) != 1 ? 1 : 0;
  const int64_t shifted = real_attr(node, "out_bias", 0) != 0 ? 1 : 0;
  op[VectorClass::elementwise] = capped_product({scaled + shifted, all});
  return checked_work(node, {op});
}

constexpr OpRow kTrainedQuantOperators[] = {
    // To the grid of the scale and back: two conversions.
    {.name = "Quant",
     .domain = kQonnx,
     .ports = {{"X"},
               {"scale", PortRole::setting},
               {"zeropt", PortRole::setting},
               {"bitwidth", PortRole::setting}},
     .attributes = {"narrow", "rounding_mode", "signed"},
     .pointwise = true,
     .shape = quant_shape,
     .cost = pointwise_cost<0, 0, 2>,
     .in_place = false,
     .passes_weights = true},
    {.name = "MultiThreshold",
     .domain = kFinn,
     .ports = {{"v"}, {"thresholds", PortRole::parameter}},
     .attributes = {"data_layout", "out_bias", "out_dtype", "out_scale"},
     .shape = thresholds_shape,
     .cost = thresholds_cost,
     .kind = OpKind::elementwise},
};

}  // namespace

std::span<const OpRow> trained_quant_rows() { return kTrainedQuantOperators; }

}  // namespace accsim::sim
