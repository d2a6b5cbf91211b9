#include "sim/operators/contrib/contrib_rules.h"
#include "sim/operators/conv/conv_kind_rules.h"
#include "sim/operators/matmul/attention_rules.h"
#include "sim/operators/matmul/matmul_rules.h"
#include "sim/operators/norm/norm_rules.h"
#include "sim/operators/op_table.h"
#include "sim/operators/quant/quant_rules.h"
#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

constexpr std::string_view kMs = "com.microsoft";

}  // namespace

std::span<const OpRow> contrib_rows() {
  using enum Fate;
  static constexpr OpRow kRows[] = {
      // Products and convolutions
      {"FusedMatMul", 1, 2, 2, gemm, fused_matmul_rule, nullptr, fused_matmul_cost, "1", kMs},
      {"FusedGemm", 1, 2, 3, gemm, gemm_rule, nullptr, fused_gemm_cost, "12", kMs},
      {"MatMulNBits", 1, 3, 6, gemm, matmul_nbits_rule, nullptr, matmul_nbits_cost, "1235", kMs},
      {"DynamicQuantizeMatMul", 1, 3, 5, gemm, dynamic_matmul_rule, nullptr, dynamic_matmul_cost,
       "124", kMs},
      {"MatMulIntegerToFloat", 1, 4, 7, gemm, matmul_to_float_rule, nullptr, matmul_to_float_cost,
       "136", kMs},
      {"QGemm", 1, 6, 9, gemm, qgemm_rule, nullptr, qgemm_cost, "346", kMs},
      {"FusedConv", 1, 2, 4, gemm, fused_conv_rule, nullptr, fused_conv_cost, "12", kMs},
      {"QLinearConv", 1, 8, 9, gemm, ms_qlinear_conv_rule, nullptr, ms_qlinear_conv_cost, "3458",
       kMs},
      {"CausalConvWithState", 1, 2, 4, gemm, causal_conv_rule, nullptr, causal_conv_cost, "12",
       kMs},
      // Attention
      {"Attention", 1, 2, 7, gemm, ms_attention_rule, nullptr, ms_attention_cost, "12", kMs},
      {"QAttention", 1, 5, 9, gemm, qattention_rule, nullptr, qattention_cost, "124", kMs},
      {"MultiHeadAttention", 1, 1, 10, gemm, multi_head_rule, nullptr, multi_head_cost, "3", kMs},
      {"GroupQueryAttention", 1, 1, 14, gemm, group_query_rule, nullptr, group_query_cost, "78",
       kMs},
      {"RotaryEmbedding", 1, 4, 4, vector, ms_rotary_rule, nullptr, ms_rotary_cost, "23", kMs},
      // Normalisation and activation
      {"LayerNormalization", 1, 2, 3, vector, layer_norm_rule, nullptr, layer_norm_cost, "12", kMs},
      {"SimplifiedLayerNormalization", 1, 2, 2, vector, simplified_layer_norm_rule, nullptr,
       simplified_layer_norm_cost, "1", kMs},
      {"SkipLayerNormalization", 1, 3, 5, vector, skip_norm_rule, nullptr, skip_layer_norm_cost,
       "234", kMs},
      {"SkipSimplifiedLayerNormalization", 1, 3, 4, vector, skip_norm_rule, nullptr,
       skip_simplified_norm_cost, "23", kMs},
      {"EmbedLayerNormalization", 1, 1, 9, vector, embed_norm_rule, nullptr, embed_norm_cost,
       "23456", kMs},
      // x 0.5 (1 + erf(x / sqrt 2)); with a bias one sum more; x sigmoid(a x)
      {"Gelu", 1, 1, 1, vector, same_shape, nullptr, pointwise_cost<4, 1>, "", kMs},
      {"BiasGelu", 1, 2, 2, vector, bias_gelu_rule, nullptr, pointwise_cost<5, 1>, "1", kMs},
      {"FastGelu", 1, 1, 2, vector, fast_gelu_rule, nullptr, fast_gelu_cost, "1", kMs},
      {"QuickGelu", 1, 1, 1, vector, same_shape, nullptr, pointwise_cost<2, 1>, "", kMs},
      // Quantised
      {"QuantizeLinear", 1, 2, 3, vector, quantize_rule, nullptr, quantize_cost, "1", kMs},
      {"DequantizeLinear", 1, 2, 3, vector, dequantize_rule, nullptr, quantize_cost, "01", kMs},
      {"QLinearAdd", 1, 2, 8, vector, qlinear_binary_rule, nullptr, qlinear_binary_cost, "3", kMs},
      {"QLinearMul", 1, 2, 8, vector, qlinear_binary_rule, nullptr, qlinear_binary_cost, "3", kMs},
      {"QLinearSigmoid", 1, 2, 5, vector, same_shape, nullptr, qlinear_sigmoid_cost, "", kMs},
      {"QLinearLeakyRelu", 1, 2, 5, vector, same_shape, nullptr, qlinear_leaky_relu_cost, "", kMs},
      {"QLinearSoftmax", 1, 2, 5, vector, same_shape, nullptr, qlinear_softmax_cost, "", kMs},
      {"QLinearConcat", 1, 2, kVariadic, vector, qlinear_concat_rule, nullptr, qlinear_concat_cost,
       "", kMs},
      {"QLinearGlobalAveragePool", 1, 2, 5, vector, qlinear_global_pool_rule, nullptr,
       qlinear_global_pool_cost, "", kMs},
      {"QLinearAveragePool", 1, 2, 5, vector, qlinear_average_pool_rule, nullptr,
       qlinear_average_pool_cost, "", kMs},
      {"NhwcMaxPool", 1, 1, 1, vector, nhwc_max_pool_rule, nullptr, nhwc_max_pool_cost, "", kMs},
  };
  return kRows;
}

}  // namespace accsim::sim
