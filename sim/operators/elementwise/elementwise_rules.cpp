#include "sim/operators/elementwise/elementwise_rules.h"

#include <fmt/format.h>

#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

Status same_types(const NodeView& node, size_t first, size_t last) {
  for (size_t i = first + 1; i <= last && i < node.input_count(); ++i)
    if (node.has_input(i) && node.dtype(i) != node.dtype(first))
      return bad_node(node, fmt::format("inputs {} and {} must have one type, not {} and {}", first,
                                        i, name(node.dtype(first)), name(node.dtype(i))));
  return ok();
}

}  // namespace

Status arithmetic_shape(InferContext& node) {
  if (Status s = same_types(node, 0, node.input_count()); !s) return s;
  return broadcast_shape(node);
}

Status compare_shape(InferContext& node) {
  if (Status s = same_types(node, 0, 1); !s) return s;
  return broadcast_bool(node);
}

/// The slope broadcasts to the input, not the other way round.
Status prelu_shape(InferContext& node) {
  const Result<Dims> dims = broadcast_inputs(node, 0, 2);
  if (!dims) return dims.errors();
  if (*dims != node.dims(0))
    return bad_node(node, fmt::format("slope of shape {} doesn't broadcast to {}",
                                      to_string(node.dims(1)), to_string(node.dims(0))));
  return same_shape(node);
}

Status clip_shape(InferContext& node) {
  for (size_t i = 1; i < node.input_count(); ++i)
    if (node.has_input(i) && elements(node.dims(i)) != 1)
      return bad_node(node, fmt::format("input {} must be a scalar, not of shape {}", i,
                                        to_string(node.dims(i))));
  return same_shape(node);
}

Status where_shape(InferContext& node) {
  if (node.dtype(0) != DType::boolean) return bad_node(node, "input 0 must be boolean");
  if (Status s = same_types(node, 1, 2); !s) return s;
  Result<Dims> dims = broadcast_inputs(node, 0, 3);
  if (!dims) return dims.errors();
  return set_shape(node, 0, node.dtype(1), std::move(*dims));
}

Status cast_shape(InferContext& node) {
  if (!node.has_attr("to")) return bad_node(node, "attribute 'to' is missing");
  const Result<DType> to = dtype_attr(node, "to", DType::undefined);
  if (!to) return to.errors();
  return set_shape(node, 0, *to, node.dims(0));
}

Status cast_like_shape(InferContext& node) {
  return set_shape(node, 0, node.dtype(1), node.dims(0));
}

Status bit_cast_shape(InferContext& node) {
  if (Status s = cast_shape(node); !s) return s;
  const Result<DType> to = dtype_attr(node, "to", DType::undefined);
  if (bits(*to) != bits(node.dtype(0)))
    return bad_node(node, fmt::format("{} and {} differ in size", name(node.dtype(0)), name(*to)));
  return ok();
}

Status bit_shift_shape(InferContext& node) {
  const std::string direction = node.attr("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return bad_node(node, "attribute 'direction' must be LEFT or RIGHT");
  return arithmetic_shape(node);
}

Status dropout_shape(InferContext& node) {
  if (node.has_input(2)) {
    const Result<std::vector<int64_t>> training =
        need_integers(node, 2, "training_mode", "the output");
    if (!training) return training.errors();
    // Torchvision's Swin leaves the mode on with a ratio of 0, which drops nothing.
    const ConstData* ratio = node.has_input(1) ? node.value(1) : nullptr;
    const bool drops = ratio == nullptr || ratio->size() != 1 || ratio->as_double(0) != 0;
    if (!training->empty() && training->front() != 0 && drops)
      return unsupported_node(node, "training_mode is on; export the model for inference");
  }
  if (Status s = same_shape(node); !s) return s;
  // Before opset 10 the mask had the type of the data.
  return set_shape(node, 1, node.opset() < 10 ? node.dtype(0) : DType::boolean, node.dims(0));
}

Result<Work> cast_cost(const NodeView& node) {
  if (node.has_output(0) && node.output(0).dtype == node.dtype(0)) return Work{};
  if (Status s = check_countable(node); !s) return s.errors();
  VectorOp op;
  read_input(node, 0, op.inputs);  // CastLike's second input only lends its type
  write_output(node, 0, op.outputs);
  op[VectorClass::convert] = output_size(node, 0);
  return Work{std::move(op)};
}

/// One compare-select per bound that there is.
Result<Work> clip_cost(const NodeView& node) {
  const bool low = node.has_input(1) || node.has_attr("min");
  const bool high = node.has_input(2) || node.has_attr("max");
  return per_element(node, (low ? 1 : 0) + (high ? 1 : 0), 0);
}

/// erf: scale, erf, half, multiply-add. tanh: square, multiply-add, two scales, tanh, half,
/// multiply-add.
Result<Work> gelu_cost(const NodeView& node) {
  return node.attr("approximate", "none") == "tanh" ? per_element(node, 6, 1)
                                                    : per_element(node, 3, 1);
}

Result<Work> swish_cost(const NodeView& node) {
  return per_element(node, real_attr(node, "alpha", 1.0) == 1.0 ? 1 : 2, 1);
}

Status swiglu_shape(InferContext& node) {
  if (node.dims(0) != node.dims(1))
    return bad_node(node, fmt::format("A {} and B {} must have one shape", to_string(node.dims(0)),
                                      to_string(node.dims(1))));
  return same_shape(node);
}

Result<Work> swiglu_cost(const NodeView& node) {
  return per_element(node, real_attr(node, "alpha", 1.0) == 1.0 ? 2 : 3, 1);
}

Result<Work> mean_cost(const NodeView& node) {
  // All the adds, then one scale.
  return node.input_count() > 1 ? per_element(node, static_cast<int64_t>(node.input_count()), 0)
                                : Work{};
}

}  // namespace accsim::sim
