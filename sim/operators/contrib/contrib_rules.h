#pragma once
#include "sim/operators/node_view.h"
#include "sim/work/work.h"

namespace accsim::sim {

// Rules of com.microsoft operators; their rows stand among contrib_rows().

// contrib_attention.cpp
Status ms_attention_rule(InferContext& node);
Result<Work> ms_attention_cost(const NodeView& node);
Status qattention_rule(InferContext& node);
Result<Work> qattention_cost(const NodeView& node);
Status multi_head_rule(InferContext& node);
Result<Work> multi_head_cost(const NodeView& node);
Status group_query_rule(InferContext& node);
Result<Work> group_query_cost(const NodeView& node);
Status ms_rotary_rule(InferContext& node);
Result<Work> ms_rotary_cost(const NodeView& node);

// contrib_matmul.cpp
Status fused_matmul_rule(InferContext& node);
Result<Work> fused_matmul_cost(const NodeView& node);
Result<Work> fused_gemm_cost(const NodeView& node);
Status matmul_nbits_rule(InferContext& node);
Result<Work> matmul_nbits_cost(const NodeView& node);
Status dynamic_matmul_rule(InferContext& node);
Result<Work> dynamic_matmul_cost(const NodeView& node);
Status matmul_to_float_rule(InferContext& node);
Result<Work> matmul_to_float_cost(const NodeView& node);
Status qgemm_rule(InferContext& node);
Result<Work> qgemm_cost(const NodeView& node);
Status fused_conv_rule(InferContext& node);
Result<Work> fused_conv_cost(const NodeView& node);
Status ms_qlinear_conv_rule(InferContext& node);
Result<Work> ms_qlinear_conv_cost(const NodeView& node);

// contrib_norm.cpp
Status skip_norm_rule(InferContext& node);
Result<Work> skip_layer_norm_cost(const NodeView& node);
Result<Work> skip_simplified_norm_cost(const NodeView& node);
Status embed_norm_rule(InferContext& node);
Result<Work> embed_norm_cost(const NodeView& node);
Status bias_gelu_rule(InferContext& node);
Status fast_gelu_rule(InferContext& node);
Result<Work> fast_gelu_cost(const NodeView& node);

// contrib_quant.cpp
Status qlinear_binary_rule(InferContext& node);
Result<Work> qlinear_binary_cost(const NodeView& node);
Result<Work> qlinear_sigmoid_cost(const NodeView& node);
Result<Work> qlinear_leaky_relu_cost(const NodeView& node);
Result<Work> qlinear_softmax_cost(const NodeView& node);
Status qlinear_concat_rule(InferContext& node);
Result<Work> qlinear_concat_cost(const NodeView& node);
Status qlinear_global_pool_rule(InferContext& node);
Status qlinear_average_pool_rule(InferContext& node);
Result<Work> qlinear_global_pool_cost(const NodeView& node);
Result<Work> qlinear_average_pool_cost(const NodeView& node);
Status nhwc_max_pool_rule(InferContext& node);
Result<Work> nhwc_max_pool_cost(const NodeView& node);

}  // namespace accsim::sim
