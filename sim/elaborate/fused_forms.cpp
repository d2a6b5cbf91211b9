#include "sim/elaborate/fused_forms.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/elaborate/expander.h"
#include "sim/elaborate/subgraph_outputs.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

struct SpellRow {
  std::string_view domain, name;
  SpellRule rule;
  bool always = false;  ///< in the file's own network, too: its kernel doesn't do that form
};

constexpr SpellRow kSpellings[] = {
    {kMicrosoft, "BiasAdd", spell_bias_add},
    {kMicrosoft, "BiasDropout", spell_bias_dropout},
    {kMicrosoft, "BiasGelu", spell_bias_gelu},
    {kMicrosoft, "BiasSoftmax", spell_bias_softmax},
    {kMicrosoft, "BiasSplitGelu", spell_bias_split_gelu},
    {kMicrosoft, "BitmaskBiasDropout", spell_bias_dropout},
    {kMicrosoft, "BitmaskDropout", spell_bias_dropout},
    {kMicrosoft, "BranchwiseRMSNorm", spell_branchwise_rms_norm},
    {kMicrosoft, "CDist", spell_cdist},
    {kMicrosoft, "CausalConvWithState", spell_causal_conv},
    {kMicrosoft, "ComplexMul", spell_complex_mul},
    {kMicrosoft, "ComplexMulConj", spell_complex_mul_conj},
    {kMicrosoft, "ConvTransposeWithDynamicPads", spell_conv_transpose_pads},
    {kMicrosoft, "DecoderMaskedSelfAttention", spell_masked_self_attention},
    {kMicrosoft, "EmbedLayerNormalization", spell_embed_layer_norm},
    {kMicrosoft, "EngramGate", spell_engram_gate},
    {kMicrosoft, "ExpandDims", spell_expand_dims},
    {kMicrosoft, "FastGelu", spell_fast_gelu},
    {kMicrosoft, "FusedConv", spell_fused_conv},
    {kMicrosoft, "FusedGemm", spell_fused_gemm},
    {kMicrosoft, "FusedMatMulActivation", spell_matmul_activation},
    {kMicrosoft, "GatedAdd", spell_gated_add},
    {kMicrosoft, "GatedDeltaNet", spell_gated_delta_net},
    {kMicrosoft, "GatedRMSNorm", spell_gated_rms_norm},
    {kMicrosoft, "GatedRelativePositionBias", spell_gated_position_bias},
    {kMicrosoft, "GatherND", spell_gather_nd},
    {kMicrosoft, "GemmFastGelu", spell_gemm_fast_gelu},
    {kMicrosoft, "GemmaRotaryEmbedding", spell_gemma_rotary},
    {kMicrosoft, "GridSample", spell_grid_sample},
    {kMicrosoft, "GroupNorm", spell_group_norm},
    {kMicrosoft, "HyperConnectionLowRankMix", spell_low_rank_mix},
    {kMicrosoft, "HyperConnectionPostMix", spell_post_mix},
    {kMicrosoft, "HyperConnectionPreMix", spell_pre_mix},
    {kMicrosoft, "Irfft", spell_irfft},
    {kMicrosoft, "LinearAttention", spell_ms_linear_attention},
    {kMicrosoft, "LinearAttentionGate", spell_linear_attention_gate},
    {kMicrosoft, "MRotaryEmbedding", spell_mrotary},
    {kMicrosoft, "MatMulBlockQuantizedFp8Weight", spell_fp8_matmul},
    {kMicrosoft, "MatMulInteger16", spell_matmul_int16},
    {kMicrosoft, "MatMulNBitsMlp", spell_nbits_mlp},
    {kMicrosoft, "MatMulNBitsQLoRA", spell_nbits_lora},
    {kMicrosoft, "MatMulNBitsQkv", spell_nbits_qkv},
    {kMicrosoft, "MulInteger", spell_mul_integer},
    {kMicrosoft, "NhwcConv", spell_nhwc_conv},
    {kMicrosoft, "NhwcFusedConv", spell_nhwc_conv},
    {kMicrosoft, "NhwcMaxPool", spell_nhwc_pool},
    {kMicrosoft, "PackedAttention", spell_packed_attention},
    {kMicrosoft, "PackedMultiHeadAttention", spell_packed_multi_head},
    {kMicrosoft, "Pad", spell_ms_pad},
    {kMicrosoft, "QLinearAveragePool", spell_channels_last_pool},
    {kMicrosoft, "QLinearConv", spell_nhwc_qlinear_conv, true},
    {kMicrosoft, "QLinearGlobalAveragePool", spell_channels_last_pool},
    {kMicrosoft, "Range", spell_range},
    {kMicrosoft, "ReduceSumInteger", spell_reduce_sum_integer},
    {kMicrosoft, "RelativePositionBias", spell_relative_position_bias},
    {kMicrosoft, "RestorePadding", spell_restore_padding},
    {kMicrosoft, "Rfft", spell_rfft},
    {kMicrosoft, "RouterGateUpProj", spell_router_gate_up},
    {kMicrosoft, "SampleOp", spell_identity},
    {kMicrosoft, "ScaledSiLU", spell_scaled_silu},
    {kMicrosoft, "SkipGroupNorm", spell_group_norm},
    {kMicrosoft, "SkipLayerNormalization", spell_skip_layer_norm},
    {kMicrosoft, "SkipSimplifiedLayerNormalization", spell_skip_rms_norm},
    {kMicrosoft, "SwiGLU", spell_swiglu},
    {kMicrosoft, "TorchEmbedding", spell_torch_embedding},
    {kMicrosoft, "TransposeMatMul", spell_transpose_matmul},
    {kMicrosoft, "Trilu", spell_trilu},
    {kMicrosoft, "UnfoldTensor", spell_unfold},
    {kMicrosoft, "Unique", spell_unique},
    {kInternalNhwc, "AveragePool", spell_nhwc_pool},
    {kInternalNhwc, "BatchNormalization", spell_nhwc_pool},
    {kInternalNhwc, "Conv", spell_nhwc_conv},
    {kInternalNhwc, "ConvTranspose", spell_nhwc_pool},
    {kInternalNhwc, "DepthToSpace", spell_nhwc_pool},
    {kInternalNhwc, "GlobalAveragePool", spell_nhwc_pool},
    {kInternalNhwc, "GlobalLpPool", spell_nhwc_pool},
    {kInternalNhwc, "GlobalMaxPool", spell_nhwc_pool},
    {kInternalNhwc, "GridSample", spell_nhwc_pool},
    {kInternalNhwc, "InstanceNormalization", spell_nhwc_pool},
    {kInternalNhwc, "LRN", spell_nhwc_pool},
    {kInternalNhwc, "LpPool", spell_nhwc_pool},
    {kInternalNhwc, "MaxPool", spell_nhwc_pool},
    {kInternalNhwc, "QLinearAveragePool", spell_channels_last_pool},
    {kInternalNhwc, "QLinearConv", spell_nhwc_qlinear_conv},
    {kInternalNhwc, "QLinearGlobalAveragePool", spell_channels_last_pool},
    {kInternalNhwc, "Resize", spell_resize},
    {kInternalNhwc, "SpaceToDepth", spell_nhwc_pool},
    {kNchwc, "AveragePool", spell_nchwc_pool},
    {kNchwc, "Conv", spell_nchwc_conv},
    {kNchwc, "GlobalAveragePool", spell_nchwc_pool},
    {kNchwc, "GlobalMaxPool", spell_nchwc_pool},
    {kNchwc, "MaxPool", spell_nchwc_pool},
    {kNchwc, "ReorderInput", spell_reorder_input},
    {kNchwc, "ReorderOutput", spell_reorder_output},
    {kNchwc, "Upsample", spell_nchwc_upsample},
    {kFinn, "MultiThreshold", spell_multi_threshold},
    {kQonnx, "Quant", spell_quant},
    {"", "CausalConvWithState", spell_causal_conv},
    {"", "LinearAttention", spell_linear_steps},
    {"", "SwiGLU", spell_onnx_swiglu},
};

/// Errors of the inputs that the row doesn't allow.
Status check_inputs(const NodeCall& call, const OpRow& row) {
  const auto count = static_cast<int64_t>(call.inputs.size());
  if (count > row.max_inputs)
    return call.error_at_node(
        Errc::invalid, fmt::format("has {} inputs, at most {} are allowed", count, row.max_inputs));
  for (int i = 0; i < row.min_inputs; ++i)
    if (call.input(static_cast<size_t>(i)) == kNoTensor)
      return call.error_at_node(
          Errc::invalid, fmt::format("lacks input {}; at least {} are needed", i, row.min_inputs));
  return ok();
}

}  // namespace

SpellRule find_spelling(std::string_view domain, std::string_view name, bool as_written) {
  const auto* const row = std::ranges::find_if(
      kSpellings, [&](const SpellRow& r) { return r.name == name && r.domain == domain; });
  return row == std::end(kSpellings) || (as_written && !row->always) ? nullptr : row->rule;
}

Status expand_spelling(const NodeCall& call, Expander& expander) {
  const OpRow* row = find_op(call.def.domain, call.def.op_type);
  const SpellRule rule = find_spelling(call.def.domain, call.def.op_type);
  check(row != nullptr && rule != nullptr, "an operator without rules has no spelling");
  if (const Status inputs = check_inputs(call, *row); !inputs) return inputs;
  for (size_t i = 0; i < call.inputs.size(); ++i)
    if (expander.builder().find_sequence(call.inputs[i]))
      return call.error_at_node(Errc::invalid, "one of its inputs is a sequence of tensors");
  const NodeId first = expander.builder().next_node();
  Spelling spelling(call, expander);
  const TensorIds ids = rule(spelling);
  if (!spelling.errors().empty()) return call.errors_at_node(spelling.errors());
  if (ids.empty()) return call.error_at_node(Errc::unsupported, "this form of it isn't supported");
  return bind_outputs(call, ids, first, expander.builder());
}

}  // namespace accsim::sim
