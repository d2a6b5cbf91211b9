#pragma once
#include <string_view>

#include "sim/base/result.h"
#include "sim/elaborate/spelling.h"

namespace accsim::sim {

class Expander;

/// Adds what a fused operator stands for, as operators of ai.onnx mostly, and gives its outputs:
/// kNoTensor for one that isn't asked for. Gives nothing for a form that has no spelling.
using SpellRule = TensorIds (*)(Spelling& s);

/// The rule of an operator; nullptr when it has none. `as_written`: only a rule without which the
/// file's own network can't be computed.
SpellRule find_spelling(std::string_view domain, std::string_view name, bool as_written = false);

/// The nodes that an operator without rules of its own stands for, in its place. Errc::unsupported
/// when this form of it can't be spelled out. Errors name the node.
Status expand_spelling(const NodeCall& call, Expander& expander);

/// The rows, as indices of count x 1, of the first `count` tokens of packed sequences.
TensorId token_rows(Spelling& s, TensorId offsets, int64_t count);

// The rules, by the file that has them. What each gives is what ONNX Runtime's schema says.
// spell_products.cpp
/// What FusedConv stands for.
TensorIds spell_fused_conv(Spelling& s);
/// What Conv, NhwcConv and NhwcFusedConv stand for.
TensorIds spell_nhwc_conv(Spelling& s);
/// What QLinearConv stands for.
TensorIds spell_nhwc_qlinear_conv(Spelling& s);
/// What AveragePool, BatchNormalization, ConvTranspose, DepthToSpace, GlobalAveragePool,
/// GlobalLpPool, GlobalMaxPool, GridSample, InstanceNormalization, LRN, LpPool, MaxPool,
/// NhwcMaxPool and SpaceToDepth stand for.
TensorIds spell_nhwc_pool(Spelling& s);
/// What QLinearAveragePool and QLinearGlobalAveragePool stand for.
TensorIds spell_channels_last_pool(Spelling& s);
/// What FusedGemm stands for.
TensorIds spell_fused_gemm(Spelling& s);
/// What GemmFastGelu stands for.
TensorIds spell_gemm_fast_gelu(Spelling& s);
/// What FusedMatMulActivation stands for.
TensorIds spell_matmul_activation(Spelling& s);
// spell_packed.cpp
/// What MatMulNBitsMlp stands for.
TensorIds spell_nbits_mlp(Spelling& s);
/// What MatMulNBitsQkv stands for.
TensorIds spell_nbits_qkv(Spelling& s);
/// What MatMulNBitsQLoRA stands for.
TensorIds spell_nbits_lora(Spelling& s);
/// What MatMulBlockQuantizedFp8Weight stands for.
TensorIds spell_fp8_matmul(Spelling& s);
// spell_norms.cpp
/// What SkipLayerNormalization stands for.
TensorIds spell_skip_layer_norm(Spelling& s);
/// What SkipSimplifiedLayerNormalization stands for.
TensorIds spell_skip_rms_norm(Spelling& s);
/// What GroupNorm and SkipGroupNorm stand for.
TensorIds spell_group_norm(Spelling& s);
/// What EmbedLayerNormalization stands for.
TensorIds spell_embed_layer_norm(Spelling& s);
/// What GatedRMSNorm stands for.
TensorIds spell_gated_rms_norm(Spelling& s);
/// What BranchwiseRMSNorm stands for.
TensorIds spell_branchwise_rms_norm(Spelling& s);
// spell_gates.cpp
/// What BiasGelu stands for.
TensorIds spell_bias_gelu(Spelling& s);
/// What FastGelu stands for.
TensorIds spell_fast_gelu(Spelling& s);
/// What BiasSplitGelu stands for.
TensorIds spell_bias_split_gelu(Spelling& s);
/// What BiasAdd stands for.
TensorIds spell_bias_add(Spelling& s);
/// What BiasDropout, BitmaskBiasDropout and BitmaskDropout stand for.
TensorIds spell_bias_dropout(Spelling& s);
/// What BiasSoftmax stands for.
TensorIds spell_bias_softmax(Spelling& s);
/// What SwiGLU stands for.
TensorIds spell_swiglu(Spelling& s);
/// What SwiGLU stands for.
TensorIds spell_onnx_swiglu(Spelling& s);
/// What RouterGateUpProj stands for.
TensorIds spell_router_gate_up(Spelling& s);
/// What ScaledSiLU stands for.
TensorIds spell_scaled_silu(Spelling& s);
/// What GatedAdd stands for.
TensorIds spell_gated_add(Spelling& s);
/// What LinearAttentionGate stands for.
TensorIds spell_linear_attention_gate(Spelling& s);
/// What ComplexMul stands for.
TensorIds spell_complex_mul(Spelling& s);
/// What ComplexMulConj stands for.
TensorIds spell_complex_mul_conj(Spelling& s);
/// What HyperConnectionPreMix stands for.
TensorIds spell_pre_mix(Spelling& s);
/// What HyperConnectionPostMix stands for.
TensorIds spell_post_mix(Spelling& s);
/// What HyperConnectionLowRankMix stands for.
TensorIds spell_low_rank_mix(Spelling& s);
/// What EngramGate stands for.
TensorIds spell_engram_gate(Spelling& s);
/// What GemmaRotaryEmbedding stands for.
TensorIds spell_gemma_rotary(Spelling& s);
// spell_attention.cpp
/// What PackedMultiHeadAttention stands for.
TensorIds spell_packed_multi_head(Spelling& s);
/// What PackedAttention stands for.
TensorIds spell_packed_attention(Spelling& s);
/// What DecoderMaskedSelfAttention stands for.
TensorIds spell_masked_self_attention(Spelling& s);
/// What MRotaryEmbedding stands for.
TensorIds spell_mrotary(Spelling& s);
// spell_recurrent.cpp
/// What LinearAttention stands for.
TensorIds spell_linear_steps(Spelling& s);
/// What LinearAttention stands for.
TensorIds spell_ms_linear_attention(Spelling& s);
/// What GatedDeltaNet stands for.
TensorIds spell_gated_delta_net(Spelling& s);
/// What CausalConvWithState stands for.
TensorIds spell_causal_conv(Spelling& s);
// spell_nchwc.cpp
/// What Conv stands for.
TensorIds spell_nchwc_conv(Spelling& s);
/// What AveragePool, GlobalAveragePool, GlobalMaxPool and MaxPool stand for.
TensorIds spell_nchwc_pool(Spelling& s);
/// What Upsample stands for.
TensorIds spell_nchwc_upsample(Spelling& s);
/// What ReorderInput stands for.
TensorIds spell_reorder_input(Spelling& s);
/// What ReorderOutput stands for.
TensorIds spell_reorder_output(Spelling& s);
// spell_movement.cpp
/// What GatherND stands for.
TensorIds spell_gather_nd(Spelling& s);
/// What Trilu stands for.
TensorIds spell_trilu(Spelling& s);
/// What Range stands for.
TensorIds spell_range(Spelling& s);
/// What SampleOp stands for.
TensorIds spell_identity(Spelling& s);
/// What Resize stands for.
TensorIds spell_resize(Spelling& s);
/// What ExpandDims stands for.
TensorIds spell_expand_dims(Spelling& s);
/// What Pad stands for.
TensorIds spell_ms_pad(Spelling& s);
/// What TorchEmbedding stands for.
TensorIds spell_torch_embedding(Spelling& s);
/// What Unique stands for.
TensorIds spell_unique(Spelling& s);
/// What TransposeMatMul stands for.
TensorIds spell_transpose_matmul(Spelling& s);
/// What GridSample stands for.
TensorIds spell_grid_sample(Spelling& s);
/// What MulInteger stands for.
TensorIds spell_mul_integer(Spelling& s);
/// What ReduceSumInteger stands for.
TensorIds spell_reduce_sum_integer(Spelling& s);
/// What MatMulInteger16 stands for.
TensorIds spell_matmul_int16(Spelling& s);
/// What CDist stands for.
TensorIds spell_cdist(Spelling& s);
/// What ConvTransposeWithDynamicPads stands for.
TensorIds spell_conv_transpose_pads(Spelling& s);
/// What Rfft stands for.
TensorIds spell_rfft(Spelling& s);
/// What Irfft stands for.
TensorIds spell_irfft(Spelling& s);
/// What UnfoldTensor stands for.
TensorIds spell_unfold(Spelling& s);
/// What RestorePadding stands for.
TensorIds spell_restore_padding(Spelling& s);
/// What RelativePositionBias stands for.
TensorIds spell_relative_position_bias(Spelling& s);
/// What GatedRelativePositionBias stands for.
TensorIds spell_gated_position_bias(Spelling& s);
// spell_trained.cpp
/// What Quant stands for.
TensorIds spell_quant(Spelling& s);
/// What MultiThreshold stands for.
TensorIds spell_multi_threshold(Spelling& s);

}  // namespace accsim::sim
