#include <fmt/format.h>

#include <algorithm>

#include "sim/operators/conv/conv_kind_rules.h"
#include "sim/operators/conv/conv_rules.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {

Dims ConvShape::output_dims(bool channels_last) const {
  const Dims spatial = window.out_dims();
  Dims out{images};
  if (!channels_last) out.push_back(out_channels);
  out.insert(out.end(), spatial.begin(), spatial.end());
  if (channels_last) out.push_back(out_channels);
  return out;
}

Result<ConvShape> conv_shape(const NodeView& node, const ConvPorts& ports) {
  const Dims& x = node.dims(ports.x);
  Dims w = node.dims(ports.w);
  if (ports.weights_last && w.size() > 1) std::rotate(w.begin() + 1, w.end() - 1, w.end());
  if (Status s = want_spatial(node, x.size() < 3 ? 0 : x.size() - 2); !s) return s.errors();
  if (w.size() != x.size())
    return bad_node(node, fmt::format("weights {} must have the rank of the input {}", to_string(w),
                                      to_string(x)));
  ConvShape shape;
  shape.images = x[0];
  shape.in_channels = ports.channels_last ? x.back() : x[1];
  shape.out_channels = w[0];
  shape.groups = int_attr(node, "group", 1);
  if (shape.groups < 1 || shape.in_channels % shape.groups != 0 ||
      w[1] != shape.in_channels / shape.groups || w[0] % shape.groups != 0)
    return bad_node(node, fmt::format("weights {} don't go with input {} in {} groups",
                                      to_string(w), to_string(x), shape.groups));
  const ptrdiff_t first = ports.channels_last ? 1 : 2;
  const Dims spatial(x.begin() + first, x.begin() + first + static_cast<ptrdiff_t>(x.size() - 2));
  const Dims kernel(w.begin() + 2, w.end());
  if (const auto stated = node.attr_ints("kernel_shape"); stated && *stated != kernel)
    return bad_node(node, fmt::format("attribute 'kernel_shape' is {}, but the weights are {}",
                                      to_string(*stated), to_string(w)));
  const auto bias = static_cast<size_t>(ports.bias);
  if (ports.bias >= 0 && node.has_input(bias) && node.dims(bias) != Dims{shape.out_channels})
    return bad_node(node, fmt::format("bias {} must have one element per output channel ({})",
                                      to_string(node.dims(bias)), shape.out_channels));
  Result<SlidingWindow> window = slide_window(node, spatial, kernel);
  if (!window) return window.errors();
  shape.window = *window;
  return shape;
}

GemmOp conv_gemm(const NodeView& node, const ConvShape& shape, const ConvPorts& ports) {
  GemmOp op;
  op.batch = shape.groups;
  op.grouped = shape.groups > 1;
  op.images = shape.images;
  op.channels = shape.in_channels / shape.groups;
  op.outputs = shape.out_channels / shape.groups;
  op.in = shape.window.in;
  op.out = shape.window.out;
  op.kernel = shape.window.kernel;
  op.stride = shape.window.stride;
  op.dilation = shape.window.dilation;
  op.pad = shape.window.pad;
  op.a_port = static_cast<int>(ports.x);
  op.b_port = static_cast<int>(ports.w);
  if (ports.bias >= 0 && node.has_input(static_cast<size_t>(ports.bias))) op.bias_port = ports.bias;
  return op;
}

namespace {

constexpr ConvPorts kInteger{0, 1, -1, false};
constexpr ConvPorts kQLinear{0, 3, 8, false};

Status conv_output(InferContext& node, const ConvPorts& ports, DType dtype) {
  const Result<ConvShape> shape = conv_shape(node, ports);
  if (!shape) return shape.errors();
  return set_shape(node, 0, dtype, shape->output_dims(ports.channels_last));
}

Result<Work> conv_work(const NodeView& node, const ConvPorts& ports) {
  const Result<ConvShape> shape = conv_shape(node, ports);
  if (!shape) return shape.errors();
  return checked_work(node, {conv_gemm(node, *shape, ports)});
}

Status conv_integer_rule(InferContext& node) { return conv_output(node, kInteger, DType::int32); }
Result<Work> conv_integer_cost(const NodeView& node) { return conv_work(node, kInteger); }
Status qlinear_conv_rule(InferContext& node) { return conv_output(node, kQLinear, node.dtype(7)); }
Result<Work> qlinear_conv_cost(const NodeView& node) { return conv_work(node, kQLinear); }

}  // namespace

Status conv_rule(InferContext& node) { return conv_output(node, {}, node.dtype(0)); }
Result<Work> conv_cost(const NodeView& node) { return conv_work(node, {}); }

namespace {

constexpr OpRow kConvOperators[] = {
    {.name = "Conv",
     .ports = {{"X"}, {"W", PortRole::weight}, {"B", PortRole::bias}},
     .min_inputs = 2,
     .attributes = {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"},
     .fate = Fate::gemm,
     .shape = conv_rule,
     .cost = conv_cost,
     .kind = OpKind::convolution,
     .same_operand_types = true,
     .weights = WeightLayout::oihw,
     .beyond = Beyond::zero},
    {.name = "ConvInteger",
     .since = 10,
     .ports = {{"x"},
               {"w", PortRole::weight},
               {"x_zero_point", PortRole::zero_point, 0},
               {"w_zero_point", PortRole::zero_point, 1}},
     .min_inputs = 2,
     .attributes = {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"},
     .fate = Fate::gemm,
     .shape = conv_integer_rule,
     .cost = conv_integer_cost,
     .kind = OpKind::convolution,
     .weights = WeightLayout::oihw,
     .real = op::kConv},
    {.name = "QLinearConv",
     .since = 10,
     .ports = {{"x"},
               {"x_scale", PortRole::scale, 0},
               {"x_zero_point", PortRole::zero_point, 0},
               {"w", PortRole::weight},
               {"w_scale", PortRole::weight_scale, 3},
               {"w_zero_point", PortRole::weight_zero_point, 3},
               {"y_scale", PortRole::scale, kResult},
               {"y_zero_point", PortRole::zero_point, kResult},
               {"B", PortRole::bias}},
     .min_inputs = 8,
     .attributes = {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"},
     .fate = Fate::gemm,
     .shape = qlinear_conv_rule,
     .cost = qlinear_conv_cost,
     .kind = OpKind::convolution,
     .weights = WeightLayout::oihw,
     .real = op::kConv},
    {.name = "ConvTranspose",
     .ports = {{"X"}, {"W", PortRole::weight}, {"B", PortRole::bias}},
     .min_inputs = 2,
     .attributes = {"auto_pad", "dilations", "group", "kernel_shape", "output_padding",
                    "output_shape", "pads", "strides"},
     .fate = Fate::gemm,
     .shape = conv_transpose_rule,
     .cost = conv_transpose_cost,
     .kind = OpKind::convolution,
     .same_operand_types = true,
     .lie = LayoutRule::channels_last},
    {.name = "DeformConv",
     .since = 19,
     .ports = {{"X"}, {"W", PortRole::weight}, {"offset"}, {"B", PortRole::bias}, {"mask"}},
     .min_inputs = 3,
     .attributes = {"dilations", "group", "kernel_shape", "offset_group", "pads", "strides"},
     .fate = Fate::gemm,
     .shape = deform_conv_rule,
     .cost = deform_conv_cost,
     .kind = OpKind::convolution,
     .lie = LayoutRule::channels_last},
    {.name = "CausalConvWithState",
     .since = 27,
     .ports = {{"input"}, {"weight", PortRole::weight}, {"bias", PortRole::bias}, {"past_state"}},
     .min_inputs = 2,
     .attributes = {"activation"},
     .fate = Fate::gemm,
     .shape = causal_conv_rule,
     .cost = causal_conv_cost,
     .kind = OpKind::convolution,
     .lie = LayoutRule::channels_last},
};

}  // namespace

std::span<const OpRow> conv_rows() { return kConvOperators; }

}  // namespace accsim::sim
