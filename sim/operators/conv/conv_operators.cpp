#include <fmt/format.h>

#include "sim/operators/conv/conv_kind_rules.h"
#include "sim/operators/conv/conv_rules.h"
#include "sim/operators/op_table.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {

Dims ConvShape::output(bool channels_last) const {
  const Dims spatial = window.out_dims();
  Dims out{images};
  if (!channels_last) out.push_back(out_channels);
  out.insert(out.end(), spatial.begin(), spatial.end());
  if (channels_last) out.push_back(out_channels);
  return out;
}

Result<ConvShape> conv_shape(const NodeView& node, const ConvPorts& ports) {
  const Dims &x = node.dims(ports.x), &w = node.dims(ports.w);
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
  op.bias_port =
      ports.bias >= 0 && node.has_input(static_cast<size_t>(ports.bias)) ? ports.bias : -1;
  return op;
}

namespace {

constexpr ConvPorts kInteger{0, 1, -1, false};
constexpr ConvPorts kQLinear{0, 3, 8, false};

Status conv_output(InferContext& node, const ConvPorts& ports, DType dtype) {
  const Result<ConvShape> shape = conv_shape(node, ports);
  if (!shape) return shape.errors();
  return set_shape(node, 0, dtype, shape->output(ports.channels_last));
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

std::span<const OpRow> conv_rows() {
  static constexpr OpRow kRows[] = {
      {"Conv", 1, 2, 3, Fate::gemm, conv_rule, nullptr, conv_cost, "12"},
      {"ConvInteger", 10, 2, 4, Fate::gemm, conv_integer_rule, nullptr, conv_integer_cost, "1"},
      {"QLinearConv", 10, 8, 9, Fate::gemm, qlinear_conv_rule, nullptr, qlinear_conv_cost, "3458"},
      {"ConvTranspose", 1, 2, 3, Fate::gemm, conv_transpose_rule, nullptr, conv_transpose_cost,
       "12"},
      {"DeformConv", 19, 3, 5, Fate::gemm, deform_conv_rule, nullptr, deform_conv_cost, "13"},
      {"CausalConvWithState", 27, 2, 4, Fate::gemm, causal_conv_rule, nullptr, causal_conv_cost,
       "12"},
  };
  return kRows;
}

}  // namespace accsim::sim
