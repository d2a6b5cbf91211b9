#include <algorithm>

#include "sim/elaborate/fused_activation.h"
#include "sim/elaborate/fused_forms.h"
#include "sim/operators/names.h"

namespace accsim::sim {
namespace {

/// The node's attributes that `kept` names.
std::vector<Attribute> pick(const Spelling& s, std::initializer_list<std::string_view> kept) {
  std::vector<Attribute> out;
  for (const Attribute& a : s.call().attributes)
    if (std::ranges::find(kept, a.name) != kept.end()) out.push_back(a);
  return out;
}

std::vector<Attribute> window_attributes(const Spelling& s) {
  return pick(s, {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"});
}
std::vector<Attribute> pool_attributes(const Spelling& s) {
  return pick(s, {"auto_pad", "ceil_mode", "count_include_pad", "dilations", "kernel_shape", "p",
                  "pads", "storage_order", "strides"});
}

bool is_channels_last(const Spelling& s) { return s.integer("channels_last", 0) != 0; }

/// Conv, the sum with input 3, the activation.
TensorId convolve(Spelling& s, TensorId x, TensorId w, TensorId z) {
  TensorId y = s.add(op::kConv, "conv", {x, w, s.input(2)}, window_attributes(s));
  if (z != kNoTensor) y = s.add(op::kAdd, "sum", {y, z});
  return activate(s, y);
}

/// Weights of NhwcFusedConv, which files have as the definition says or with channels last.
TensorId channels_first_weights(Spelling& s, TensorId x, TensorId w) {
  const int64_t group = std::max<int64_t>(s.integer("group", 1), 1);
  const Dims dims = s.dims(w);
  if (dims.size() < 3) return w;
  const std::vector<int64_t> kernel = s.call().integers_attribute("kernel_shape");
  const bool fits =
      dims[1] * group == s.dim(x, -1) &&
      (kernel.empty() || std::equal(kernel.begin(), kernel.end(), dims.begin() + 2, dims.end()));
  return fits ? w : s.channels_first("weights", w);
}

}  // namespace

TensorIds spell_fused_conv(Spelling& s) {
  return {convolve(s, s.input(0), s.input(1), s.input(3))};
}

TensorIds spell_nhwc_conv(Spelling& s) {
  const TensorId w = channels_first_weights(s, s.input(0), s.input(1));
  const TensorId x = s.channels_first("input", s.input(0)), z = s.channels_first("z", s.input(3));
  return {s.channels_last("output", convolve(s, x, w, z))};
}

TensorIds spell_nhwc_qlinear_conv(Spelling& s) {
  const bool own_domain = s.call().def.domain == kMicrosoft;
  if (own_domain && !is_channels_last(s)) return {};
  TensorIds inputs{s.channels_first("input", s.input(0))};
  for (size_t i = 1; i < s.call().inputs.size(); ++i) inputs.push_back(s.input(i));
  const TensorId y = s.add("QLinearConv", "conv", inputs, window_attributes(s));
  return {s.channels_last("output", y)};
}

TensorIds spell_nhwc_pool(Spelling& s) {
  std::string name = s.call().def.op_type;
  if (name == "NhwcMaxPool") name = op::kMaxPool;
  if (s.call().wants_output(1)) s.refuse("the places of its maxima count channels last");
  TensorIds inputs{s.channels_first("input", s.input(0))};
  for (size_t i = 1; i < s.call().inputs.size(); ++i) inputs.push_back(s.input(i));
  std::vector<Attribute> attributes = s.call().attributes;
  std::erase_if(attributes, [](const Attribute& a) { return a.name.starts_with("activation"); });
  return {s.channels_last("output", activate(s, s.add(name, "work", inputs, attributes)))};
}

TensorIds spell_channels_last_pool(Spelling& s) {
  if (s.call().def.domain == kMicrosoft && !is_channels_last(s)) return {};
  TensorIds inputs{s.channels_first("input", s.input(0))};
  for (size_t i = 1; i < s.call().inputs.size(); ++i) inputs.push_back(s.input(i));
  const TensorIds y = s.add_all(std::string(kMicrosoft), s.call().def.op_type, "pool", inputs, 1,
                                pool_attributes(s));
  return {s.channels_last("output", y[0])};
}

TensorIds spell_fused_gemm(Spelling& s) {
  const TensorId y = s.add(op::kGemm, "gemm", {s.input(0), s.input(1), s.input(2)},
                           pick(s, {"alpha", "beta", "transA", "transB"}));
  return {activate(s, y)};
}

TensorIds spell_gemm_fast_gelu(Spelling& s) {
  TensorId y = s.add(op::kMatMul, "product", {s.input(0), s.input(1)});
  if (s.has(2)) y = s.add(op::kAdd, "sum", {y, s.input(2)});
  return {gelu(s, "gelu", y, true)};
}

TensorIds spell_matmul_activation(Spelling& s) {
  const TensorIds y =
      s.add_all(std::string(kMicrosoft), "FusedMatMul", "product", {s.input(0), s.input(1)}, 1,
                pick(s, {"alpha", "transA", "transB", "transBatchA", "transBatchB"}));
  return {activate(s, y[0])};
}

}  // namespace accsim::sim
