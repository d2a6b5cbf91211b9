#include <fmt/format.h>

#include "sim/operators/contrib/contrib_rules.h"
#include "sim/operators/conv/conv_kind_rules.h"
#include "sim/operators/elementwise/elementwise_values.h"
#include "sim/operators/matmul/matmul_rules.h"
#include "sim/operators/names.h"
#include "sim/operators/norm/norm_rules.h"
#include "sim/operators/op_table.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

/// x + bias + skip; x and skip are batch x tokens x channels, the bias one a channel.
Status bias_add_shape(InferContext& node) {
  if (Status s = want_rank(node, 0, 3); !s) return s;
  const Dims& x = node.dims(0);
  if (node.dims(1) != Dims{x.back()} || node.dims(2) != x)
    return bad_node(
        node, fmt::format("bias {} and skip {} don't go with an input {}", to_string(node.dims(1)),
                          to_string(node.dims(2)), to_string(x)));
  return same_shape(node);
}

constexpr OpRow kContribOperators[] = {
    {.name = "FusedMatMul",
     .domain = kMicrosoft,
     .min_inputs = 2,
     .max_inputs = 2,
     .ports = {{"A"}, {"B", PortRole::weight}},
     .attributes = {"alpha", "transA", "transB", "transBatchA", "transBatchB"},
     .fate = Fate::gemm,
     .shape = fused_matmul_rule,
     .cost = fused_matmul_cost},
    {.name = "FusedGemm",
     .domain = kMicrosoft,
     .min_inputs = 2,
     .max_inputs = 3,
     .ports = {{"A"}, {"B", PortRole::weight}, {"C", PortRole::bias}},
     .attributes = {"activation", "activation_alpha", "activation_beta", "activation_gamma",
                    "alpha", "beta", "transA", "transB"},
     .fate = Fate::gemm,
     .shape = gemm_rule,
     .cost = fused_gemm_cost},
    {.name = "FusedConv",
     .domain = kMicrosoft,
     .min_inputs = 2,
     .max_inputs = 4,
     .ports = {{"X"}, {"W", PortRole::weight}, {"B", PortRole::bias}, {"Z"}},
     .attributes = {"activation", "activation_params", "auto_pad", "dilations", "group",
                    "kernel_shape", "pads", "strides"},
     .fate = Fate::gemm,
     .shape = fused_conv_rule,
     .cost = fused_conv_cost,
     .kind = OpKind::convolution},
    {.name = "CausalConvWithState",
     .domain = kMicrosoft,
     .min_inputs = 2,
     .max_inputs = 4,
     .ports = {{"input"}, {"weight", PortRole::weight}, {"bias", PortRole::bias}, {"past_state"}},
     .attributes = {"activation", "ndim", "state_window"},
     .fate = Fate::gemm,
     .shape = causal_conv_rule,
     .cost = causal_conv_cost,
     .kind = OpKind::convolution},
    {.name = "LayerNormalization",
     .domain = kMicrosoft,
     .min_inputs = 2,
     .max_inputs = 3,
     .ports = {{"X"}, {"Scale", PortRole::gain}, {"B", PortRole::shift}},
     .attributes = {"axis", "epsilon", "stash_type"},
     .shape = layer_norm_rule,
     .cost = layer_norm_cost,
     .kind = OpKind::normalization},
    {.name = "SimplifiedLayerNormalization",
     .domain = kMicrosoft,
     .min_inputs = 2,
     .max_inputs = 2,
     .ports = {{"X"}, {"scale", PortRole::gain}},
     .attributes = {"axis", "epsilon", "stash_type"},
     .shape = simplified_layer_norm_rule,
     .cost = simplified_layer_norm_cost,
     .kind = OpKind::normalization},
    {.name = "SkipLayerNormalization",
     .domain = kMicrosoft,
     .min_inputs = 3,
     .max_inputs = 5,
     .ports = {{"input"},
               {"skip"},
               {"gamma", PortRole::gain},
               {"beta", PortRole::shift},
               {"bias", PortRole::parameter}},
     .attributes = {"epsilon"},
     .shape = skip_norm_rule,
     .cost = skip_layer_norm_cost,
     .kind = OpKind::normalization},
    {.name = "SkipSimplifiedLayerNormalization",
     .domain = kMicrosoft,
     .min_inputs = 3,
     .max_inputs = 4,
     .ports = {{"input"}, {"skip"}, {"gamma", PortRole::gain}, {"bias", PortRole::parameter}},
     .attributes = {"epsilon"},
     .shape = skip_norm_rule,
     .cost = skip_simplified_norm_cost,
     .kind = OpKind::normalization},
    {.name = "EmbedLayerNormalization",
     .domain = kMicrosoft,
     .max_inputs = 9,
     .ports = {{"input_ids"},
               {"segment_ids"},
               {"word_embedding", PortRole::parameter},
               {"position_embedding", PortRole::parameter},
               {"segment_embedding", PortRole::parameter},
               {"gamma", PortRole::gain},
               {"beta", PortRole::bias},
               {"mask"},
               {"position_ids"}},
     .attributes = {"epsilon", "mask_index_type"},
     .shape = embed_norm_rule,
     .cost = embed_norm_cost,
     .kind = OpKind::normalization},
    // x 0.5 (1 + erf(x / sqrt 2)); with a bias one sum more, split two sums and a product more;
    // x sigmoid(a x)
    {.name = "Gelu",
     .domain = kMicrosoft,
     .shape = same_shape,
     .cost = pointwise_cost<4, 1>,
     .pointwise = true,
     .kind = OpKind::elementwise},
    {.name = "BiasGelu",
     .domain = kMicrosoft,
     .min_inputs = 2,
     .max_inputs = 2,
     .ports = {{"A"}, {"B", PortRole::bias}},
     .shape = bias_gelu_rule,
     .cost = pointwise_cost<5, 1>,
     .kind = OpKind::elementwise},
    {.name = "BiasSplitGelu",
     .domain = kMicrosoft,
     .min_inputs = 2,
     .max_inputs = 2,
     .ports = {{"X"}, {"bias", PortRole::bias}},
     .shape = bias_split_gelu_rule,
     .cost = pointwise_cost<7, 1>,
     .kind = OpKind::elementwise},
    {.name = "BiasAdd",
     .domain = kMicrosoft,
     .min_inputs = 3,
     .max_inputs = 3,
     .ports = {{"X"}, {"bias", PortRole::bias}, {"skip"}},
     .shape = bias_add_shape,
     .value = fold_value<element::Add>,
     .cost = variadic_cost,
     .kind = OpKind::elementwise},
    {.name = "FastGelu",
     .domain = kMicrosoft,
     .max_inputs = 2,
     .ports = {{"X"}, {"bias", PortRole::bias}},
     .shape = fast_gelu_rule,
     .cost = fast_gelu_cost,
     .pointwise = true,
     .kind = OpKind::elementwise},
    {.name = "QuickGelu",
     .domain = kMicrosoft,
     .attributes = {"alpha"},
     .shape = same_shape,
     .cost = pointwise_cost<2, 1>,
     .pointwise = true,
     .kind = OpKind::elementwise},
};

}  // namespace

std::span<const OpRow> contrib_rows() { return kContribOperators; }

}  // namespace accsim::sim
