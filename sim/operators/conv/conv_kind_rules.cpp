#include "sim/operators/conv/conv_kind_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/operators/conv/conv_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

struct Transposed {
  int64_t images = 0, in_channels = 0, out_channels = 0, groups = 1, taps = 1;
  Dims in, out;
};

/// Output extents of a transposed convolution along every spatial dim.
Result<Dims> transposed_dims(const NodeView& node, const Dims& in, const Dims& kernel) {
  const Result<WindowAttrs> attrs = window_attrs(node, in.size());
  if (!attrs) return attrs.errors();
  const auto extra = node.attr("output_padding", std::vector<int64_t>(in.size(), 0));
  const auto wanted = node.attr_ints("output_shape");
  if (extra.size() != in.size() || (wanted && wanted->size() != in.size()))
    return bad_node(node, fmt::format("attributes 'output_padding' and 'output_shape' must have {} "
                                      "entries",
                                      in.size()));
  Dims out;
  for (size_t d = 0; d < in.size(); ++d) {
    if (extra[d] < 0 || extra[d] >= std::max(attrs->strides[d], attrs->dilations[d]))
      return bad_node(node, fmt::format("output_padding {} must be less than the stride or the "
                                        "dilation",
                                        extra[d]));
    if (wanted) {
      out.push_back((*wanted)[d]);
      continue;
    }
    const auto reach = size_product(in[d] - 1, attrs->strides[d]);
    const int64_t extent = dilated_extent(kernel[d], attrs->dilations[d]);
    if (!reach) return bad_node(node, fmt::format("spatial dim {} is too large", d));
    out.push_back(attrs->has_same_padding()
                      ? *reach + attrs->strides[d]
                      : *reach + extent + extra[d] - attrs->before[d] - attrs->after[d]);
  }
  for (int64_t v : out)
    if (v < 1) return bad_node(node, fmt::format("an output extent would be {}", v));
  return out;
}

Result<Transposed> transposed_shape(const NodeView& node) {
  const Dims &x = node.dims(0), &w = node.dims(1);
  if (Status s = want_spatial(node, x.size() < 3 ? 0 : x.size() - 2); !s) return s.errors();
  Transposed t;
  t.groups = int_attr(node, "group", 1);
  if (w.size() != x.size() || w[0] != x[1] || t.groups < 1 || x[1] % t.groups != 0)
    return bad_node(node, fmt::format("weights {} don't go with input {} in {} groups",
                                      to_string(w), to_string(x), t.groups));
  const Dims kernel(w.begin() + 2, w.end());
  if (const auto stated = node.attr_ints("kernel_shape"); stated && *stated != kernel)
    return bad_node(node, fmt::format("attribute 'kernel_shape' is {}, but the weights are {}",
                                      to_string(*stated), to_string(w)));
  for (int64_t k : kernel)
    if (k < 1 || k > (int64_t{1} << 30))
      return bad_node(node, fmt::format("a kernel extent is {}", k));
  t.images = x[0];
  t.in_channels = x[1];
  t.out_channels = capped_product({w[1], t.groups});
  t.in.assign(x.begin() + 2, x.end());
  for (int64_t k : kernel) t.taps = capped_product({t.taps, k});
  if (node.has_input(2) && node.dims(2) != Dims{t.out_channels})
    return bad_node(node, fmt::format("bias {} must have one element per output channel ({})",
                                      to_string(node.dims(2)), t.out_channels));
  Result<Dims> out = transposed_dims(node, t.in, kernel);
  if (!out) return out.errors();
  t.out = std::move(*out);
  return t;
}

}  // namespace

Status conv_transpose_rule(InferContext& node) {
  const Result<Transposed> t = transposed_shape(node);
  if (!t) return t.errors();
  Dims out{t->images, t->out_channels};
  out.insert(out.end(), t->out.begin(), t->out.end());
  return set_shape(node, 0, node.dtype(0), std::move(out));
}

Result<Work> conv_transpose_cost(const NodeView& node) {
  const Result<Transposed> t = transposed_shape(node);
  if (!t) return t.errors();
  GemmOp gemm = matrix_product(t->groups, 1, t->in_channels / t->groups,
                               capped_product({t->out_channels / t->groups, t->taps}));
  gemm.grouped = t->groups > 1;
  gemm.images = t->images;
  for (size_t d = 0; d < t->in.size(); ++d)
    gemm.in[3 - t->in.size() + d] = gemm.out[3 - t->in.size() + d] = t->in[d];
  gemm.out_port = ValuePort::made(0, 0);
  // Overlapping results are added up where they land; the bias joins there.
  VectorOp scatter;
  const int64_t products = capped_product(
      {gemm.batch, gemm.images, gemm.out[0], gemm.out[1], gemm.out[2], gemm.outputs});
  scatter.inputs.push_back({ValuePort::made(0, 0), products, 0});
  read_input(node, 2, scatter.inputs);
  write_output(node, 0, scatter.outputs);
  scatter[VectorClass::reduce] = products;
  if (node.has_input(2)) scatter[VectorClass::elementwise] = output_size(node, 0);
  return checked_work(node, {gemm, scatter});
}

Status deform_conv_rule(InferContext& node) {
  ConvPorts ports{0, 1, 3, false};
  const Result<ConvShape> shape = conv_shape(node, ports);
  if (!shape) return shape.errors();
  const int64_t groups = int_attr(node, "offset_group", 1);
  if (groups < 1 || shape->in_channels % groups != 0)
    return bad_node(node, fmt::format("{} channels don't split into {} offset groups",
                                      shape->in_channels, groups));
  const auto per_group = static_cast<int64_t>(shape->window.rank);
  Dims offsets = shape->output_dims(false);
  offsets[1] = capped_product({groups, shape->window.tap_count(), per_group});
  if (node.dims(2) != offsets)
    return bad_node(
        node, fmt::format("offsets {} must be {}", to_string(node.dims(2)), to_string(offsets)));
  offsets[1] = capped_product({groups, shape->window.tap_count()});
  if (node.has_input(4) && node.dims(4) != offsets)
    return bad_node(node,
                    fmt::format("mask {} must be {}", to_string(node.dims(4)), to_string(offsets)));
  return set_shape(node, 0, node.dtype(0), shape->output_dims(false));
}

Result<Work> deform_conv_cost(const NodeView& node) {
  const ConvPorts ports{0, 1, 3, false};
  const Result<ConvShape> shape = conv_shape(node, ports);
  if (!shape) return shape.errors();
  const Extent3& out = shape->window.out;
  const int64_t sampled = capped_product(
      {shape->images, shape->in_channels, shape->window.tap_count(), out[0], out[1], out[2]});
  VectorOp sampling;
  for (size_t i : {size_t{0}, size_t{2}, size_t{4}}) read_input(node, i, sampling.inputs);
  sampling.outputs.push_back({ValuePort::made(0, 0), sampled, 0});
  sampling[VectorClass::resize] = capped_product({sampled, int64_t{1} << shape->window.rank});
  if (node.has_input(4)) sampling[VectorClass::elementwise] = sampled;
  // The samples are gathered already, so the product sees one position with all kernel taps.
  GemmOp gemm = conv_gemm(node, *shape, ports);
  gemm.a_port = ValuePort::made(0, 0);
  gemm.channels = capped_product({gemm.channels, shape->window.tap_count()});
  gemm.kernel = gemm.stride = gemm.dilation = {1, 1, 1};
  gemm.pad = {0, 0, 0};
  gemm.in = out;
  return checked_work(node, {sampling, gemm});
}

Status causal_conv_rule(InferContext& node) {
  if (Status s = want_rank(node, 0, 3); !s) return s;
  const Dims &x = node.dims(0), &w = node.dims(1);
  if (int_attr(node, "state_window", 0) > 0)
    return unsupported_node(node, "attribute 'state_window' isn't supported");
  if (w.size() != 3 || w[0] != x[1] || w[1] != 1 || w[2] < 1)
    return bad_node(node, fmt::format("weights {} must be {}x1xk", to_string(w), x[1]));
  if (node.has_input(2) && node.dims(2) != Dims{x[1]})
    return bad_node(node,
                    fmt::format("bias {} must have {} elements", to_string(node.dims(2)), x[1]));
  const Dims state{x[0], x[1], w[2] - 1};
  if (node.has_input(3) && node.dims(3) != state)
    return bad_node(
        node, fmt::format("past_state {} must be {}", to_string(node.dims(3)), to_string(state)));
  if (Status s = set_shape(node, 0, node.dtype(0), x); !s) return s;
  return set_if_wanted(node, 1, node.dtype(0), state);
}

Result<Work> causal_conv_cost(const NodeView& node) {
  const Dims &x = node.dims(0), &w = node.dims(1);
  GemmOp gemm;
  gemm.batch = x[1];
  gemm.grouped = x[1] > 1;
  gemm.images = x[0];
  gemm.in = gemm.out = {1, 1, x[2]};
  gemm.kernel = {1, 1, w[2]};
  gemm.pad = {0, 0, w[2] - 1};
  if (node.has_input(2)) gemm.bias_port = 2;
  Work work{gemm};
  if (const std::string activation = node.attr("activation", "none"); activation != "none") {
    VectorOp silu;
    write_output(node, 0, silu.outputs);
    for (const Access& a : silu.outputs) silu.inputs.push_back({0, a.elements, 0});
    silu[VectorClass::special] = silu[VectorClass::elementwise] = output_size(node, 0);
    work.emplace_back(silu);
  }
  if (const int64_t state = output_size(node, 1); state > 0) {
    MemoryOp keep;
    read_part(node, 0, state, w[2] - 1, keep.inputs);
    write_output(node, 1, keep.outputs);
    work.emplace_back(keep);
  }
  return checked_work(node, std::move(work));
}

}  // namespace accsim::sim
