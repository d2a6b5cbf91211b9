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

constexpr decltype(OpRow::ports) kFusedConvPorts = {
    {"X"}, {"W", PortRole::weight}, {"B", PortRole::bias}, {"Z"}};
constexpr decltype(OpRow::attributes) kFusedConvAttributes = {
    "activation", "activation_params", "auto_pad", "dilations",
    "group",      "kernel_shape",      "pads",     "strides"};

constexpr OpRow kContribOperators[] = {
    {.name = "FusedMatMul",
     .ports = {{"A"}, {"B", PortRole::weight}},
     .attributes = {"alpha", "transA", "transB", "transBatchA", "transBatchB"},
     .fate = Fate::gemm,
     .shape = fused_matmul_rule,
     .cost = fused_matmul_cost},
    {.name = "FusedGemm",
     .ports = {{"A"}, {"B", PortRole::weight}, {"C", PortRole::bias}},
     .min_inputs = 2,
     .attributes = {"activation", "activation_alpha", "activation_beta", "activation_gamma",
                    "alpha", "beta", "transA", "transB"},
     .fate = Fate::gemm,
     .shape = gemm_rule,
     .cost = fused_gemm_cost},
    {.name = "FusedConv",
     .ports = kFusedConvPorts,
     .min_inputs = 2,
     .attributes = kFusedConvAttributes,
     .fate = Fate::gemm,
     .shape = fused_conv_rule,
     .cost = fused_conv_cost,
     .kind = OpKind::convolution,
     .lie = LayoutRule::channels_last},
    {.name = "MoE",
     .ports = {{"input"},
               {"router_probs"},
               {"fc1_experts_weights", PortRole::weight},
               {"fc1_experts_bias", PortRole::bias},
               {"fc2_experts_weights", PortRole::weight},
               {"fc2_experts_bias", PortRole::bias},
               {"fc3_experts_weights", PortRole::weight},
               {"fc3_experts_bias", PortRole::bias}},
     .min_inputs = 3,
     .attributes = {"activation_alpha", "activation_beta", "activation_type", "k",
                    "normalize_routing_weights", "swiglu_fusion", "swiglu_limit",
                    "use_sparse_mixer"},
     .fate = Fate::gemm,
     .shape = moe_rule,
     .cost = moe_cost},
    {.name = "QMoE",
     .ports = {{"input"},
               {"router_probs"},
               {"fc1_experts_weights", PortRole::weight},
               {"fc1_scales", PortRole::weight_scale, 2},
               {"fc1_experts_bias", PortRole::bias},
               {"fc2_experts_weights", PortRole::weight},
               {"fc2_scales", PortRole::weight_scale, 5},
               {"fc2_experts_bias", PortRole::bias},
               {"fc3_experts_weights", PortRole::weight},
               {"fc3_scales", PortRole::weight_scale, 8},
               {"fc3_experts_bias", PortRole::bias},
               {"fc1_zero_points", PortRole::weight_zero_point, 2},
               {"fc2_zero_points", PortRole::weight_zero_point, 5},
               {"fc3_zero_points", PortRole::weight_zero_point, 8},
               {"router_weights"},
               {"fc1_global_scale"},
               {"fc2_global_scale"},
               {"fc1_act_scale"}},
     .max_inputs = 18,
     .min_inputs = 4,
     .attributes = {"activation_alpha", "activation_beta", "activation_type", "block_size",
                    "expert_weight_bits", "k", "normalize_routing_weights", "quant_type",
                    "swiglu_fusion", "swiglu_limit", "use_sparse_mixer"},
     .fate = Fate::gemm,
     .shape = packed_moe_rule,
     .cost = packed_moe_cost,
     .no_kernel = "its packed experts aren't computed",
     .packs_weights = true},
    {.name = "LayerNormalization",
     .ports = {{"X"}, {"Scale", PortRole::gain}, {"B", PortRole::shift}},
     .min_inputs = 2,
     .attributes = {"axis", "epsilon", "stash_type"},
     .shape = layer_norm_rule,
     .cost = layer_norm_cost,
     .kind = OpKind::normalization,
     .lie = LayoutRule::from_axis},
    {.name = "SimplifiedLayerNormalization",
     .ports = {{"X"}, {"scale", PortRole::gain}},
     .attributes = {"axis", "epsilon", "stash_type"},
     .shape = simplified_layer_norm_rule,
     .cost = simplified_layer_norm_cost,
     .kind = OpKind::normalization,
     .lie = LayoutRule::from_axis},
    {.name = "SkipLayerNormalization",
     .ports = {{"input"},
               {"skip"},
               {"gamma", PortRole::gain},
               {"beta", PortRole::shift},
               {"bias", PortRole::parameter}},
     .min_inputs = 3,
     .attributes = {"epsilon"},
     .shape = skip_norm_rule,
     .cost = skip_layer_norm_cost,
     .kind = OpKind::normalization},
    {.name = "SkipSimplifiedLayerNormalization",
     .ports = {{"input"}, {"skip"}, {"gamma", PortRole::gain}, {"bias", PortRole::parameter}},
     .min_inputs = 3,
     .attributes = {"epsilon"},
     .shape = skip_norm_rule,
     .cost = skip_simplified_norm_cost,
     .kind = OpKind::normalization},
    {.name = "GroupNorm",
     .ports = {{"X"}, {"gamma", PortRole::gain}, {"beta", PortRole::shift}},
     .attributes = {"activation", "channels_last", "epsilon", "groups"},
     .shape = ms_group_norm_rule,
     .cost = ms_group_norm_cost,
     .kind = OpKind::normalization},
    {.name = "SkipGroupNorm",
     .ports = {{"X"},
               {"gamma", PortRole::gain},
               {"beta", PortRole::shift},
               {"skip"},
               {"bias", PortRole::parameter}},
     .min_inputs = 4,
     .attributes = {"activation", "channels_last", "epsilon", "groups"},
     .shape = ms_group_norm_rule,
     .cost = ms_group_norm_cost,
     .kind = OpKind::normalization},
    {.name = "EmbedLayerNormalization",
     .ports = {{"input_ids"},
               {"segment_ids"},
               {"word_embedding", PortRole::parameter},
               {"position_embedding", PortRole::parameter},
               {"segment_embedding", PortRole::parameter},
               {"gamma", PortRole::gain},
               {"beta", PortRole::bias},
               {"mask"},
               {"position_ids"}},
     .min_inputs = 1,
     .attributes = {"epsilon", "mask_index_type"},
     .shape = embed_norm_rule,
     .cost = embed_norm_cost,
     .kind = OpKind::normalization},
    // x 0.5 (1 + erf(x / sqrt 2)); with a bias one sum more, split two sums and a product more;
    // x sigmoid(a x)
    {.name = "Gelu", .pointwise = true, .cost = pointwise_cost<4, 1>, .in_place = false},
    {.name = "BiasGelu",
     .ports = {{"A"}, {"B", PortRole::bias}},
     .shape = bias_gelu_rule,
     .cost = pointwise_cost<5, 1>,
     .kind = OpKind::elementwise,
     .lie = LayoutRule::alike},
    {.name = "BiasSplitGelu",
     .ports = {{"X"}, {"bias", PortRole::bias}},
     .shape = bias_split_gelu_rule,
     .cost = pointwise_cost<7, 1>,
     .kind = OpKind::elementwise},
    {.name = "BiasAdd",
     .ports = {{"X"}, {"bias", PortRole::bias}, {"skip"}},
     .shape = bias_add_shape,
     .value = fold_value<element::Add>,
     .cost = variadic_cost,
     .kind = OpKind::elementwise,
     .lie = LayoutRule::alike},
    {.name = "FastGelu",
     .ports = {{"X"}, {"bias", PortRole::bias}},
     .min_inputs = 1,
     .pointwise = true,
     .shape = bias_gelu_rule,
     .cost = fast_gelu_cost,
     .in_place = false},
    {.name = "QuickGelu",
     .attributes = {"alpha"},
     .pointwise = true,
     .cost = pointwise_cost<2, 1>,
     .in_place = false},
};

}  // namespace

std::span<const OpRow> contrib_rows() {
  static constexpr auto kRows = of_domain(kMicrosoft, kContribOperators);
  return kRows;
}

}  // namespace accsim::sim
