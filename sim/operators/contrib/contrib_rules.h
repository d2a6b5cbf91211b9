#pragma once
#include "sim/operators/node_view.h"
#include "sim/work/work.h"

namespace accsim::sim {

// Rules of com.microsoft operators; their rows stand in the *_operators.cpp beside this.

// contrib_attention_rules.cpp
/// Attention: output 0 is B x S x (heads * v_head), the present keys and values 2 x B x heads x
/// total x head. Errors when input, weights, past and attributes don't agree.
Status ms_attention_rule(InferContext& node);
/// One product projects the input to queries, keys and values; rotation when asked for, the
/// caches, then attention_work().
Result<Work> ms_attention_cost(const NodeView& node);
/// The softmax between the products, unless there is a mask that isn't added to the scores.
std::optional<RowMeaning> ms_attention_rows(const NodeView& node);
/// QAttention: as Attention, in the type of the scales (input 3).
Status qattention_rule(InferContext& node);
/// As Attention, with the ports of QAttention.
Result<Work> qattention_cost(const NodeView& node);
/// As Attention, with the ports of QAttention.
std::optional<RowMeaning> qattention_rows(const NodeView& node);
/// RotaryEmbedding: output as input 0, of rank 3 or 4; the caches have rank 2.
Status ms_rotary_rule(InferContext& node);
/// rotary_cost_at() with this operator's ports.
Result<Work> ms_rotary_cost(const NodeView& node);

// multi_head_rules.cpp
/// MultiHeadAttention: keys and values apart, packed in the key or in the query. Outputs: B x S
/// x (heads * v_head), present keys and values, scores.
Status multi_head_rule(InferContext& node);
/// The bias added to all three when there is one, the caches, then attention_work().
Result<Work> multi_head_cost(const NodeView& node);
/// The softmax between the products, unless keys are padded or later ones masked.
std::optional<RowMeaning> multi_head_rows(const NodeView& node);
/// DecoderMaskedMultiHeadAttention: the same of one token, with its inputs in another order; its
/// caches may be buffers that are longer than what they hold.
Status decoder_multi_head_rule(InferContext& node);
/// As MultiHeadAttention. Of a buffer all keys, where the file doesn't say how many there are.
Result<Work> decoder_multi_head_cost(const NodeView& node);

// group_query_rules.cpp
/// GroupQueryAttention: output 0 is B x S x (heads * head), the present caches B x kv_heads x
/// cached x head in the type of the past ones.
Status group_query_rule(InferContext& node);
/// Norms and rotation of queries and keys when asked for, the caches, then attention_work() with
/// the keys that windows reach.
Result<Work> group_query_cost(const NodeView& node);

// contrib_matmul_rules.cpp
/// FusedMatMul: a NumPy matmul after transA, transB and their batch variants.
Status fused_matmul_rule(InferContext& node);
/// One GemmOp; alpha is free.
Result<Work> fused_matmul_cost(const NodeView& node);
/// FusedGemm: Gemm, then its activation as vector work. Errc::unsupported for an unknown
/// activation.
Result<Work> fused_gemm_cost(const NodeView& node);
/// MatMulNBits: [..., K] to [..., N]. Errors when the packed weights (bits and blocks by
/// attributes) or the scales have another size than K, N, block_size and bits make.
Status matmul_nbits_rule(InferContext& node);
/// One product; where the weights aren't constant before it a conversion of each of the K x N,
/// which are read packed.
Result<Work> matmul_nbits_cost(const NodeView& node);
/// A product with K x N packed weights at port 1, and what belongs to them up to the bias's port.
Result<Work> packed_product_work(const NodeView& node, int64_t k, int64_t n, size_t bias);
/// DynamicQuantizeMatMul: as MatMul, bias of N elements at input 4.
Status dynamic_matmul_rule(InferContext& node);
/// One product: who makes A rounds it, as before DynamicQuantizeLinear.
Result<Work> dynamic_matmul_cost(const NodeView& node);
/// MatMulIntegerToFloat: as MatMul, bias of N elements at input 6, in the type of A's scale.
Status matmul_to_float_rule(InferContext& node);
/// One product; scales join where its results are written.
Result<Work> matmul_to_float_cost(const NodeView& node);
/// QGemm: M x N; float32 without an output scale, else the type of its zero point.
Status qgemm_rule(InferContext& node);
/// gemm_work() with this operator's ports.
Result<Work> qgemm_cost(const NodeView& node);
/// FusedConv: as Conv; Z (input 3) must have the output's shape.
Status fused_conv_rule(InferContext& node);
/// Conv, then Z added and the activation as vector work.
Result<Work> fused_conv_cost(const NodeView& node);
/// QLinearConv: as ONNX's, or with pixels' channels innermost (attribute channels_last).
Status ms_qlinear_conv_rule(InferContext& node);
/// One product; scales join where its results are written.
Result<Work> ms_qlinear_conv_cost(const NodeView& node);

// contrib_packed_rules.cpp
/// MatMulBnb4: [..., K] to [..., N], or the other way round without transB. Errors when weights or
/// scales have another size than K, N and block_size make.
Status matmul_bnb4_rule(InferContext& node);
/// packed_product_work() of these.
Result<Work> matmul_bnb4_cost(const NodeView& node);
/// MatMulBlockQuantizedFp4Weight: [..., K] to [..., N]; two of a row's K numbers are in a byte.
Status fp4_matmul_rule(InferContext& node);
/// packed_product_work() of these.
Result<Work> fp4_matmul_cost(const NodeView& node);
/// MatMulFpQ4: as MatMul with an operand of the shape that input 2, a constant, says.
Status matmul_fpq4_rule(InferContext& node);
/// packed_product_work() of these.
Result<Work> matmul_fpq4_cost(const NodeView& node);

// contrib_moe_rules.cpp
/// MoE: output as input 0, rows of which a router of tokens x experts sends to k experts each.
/// Errors when router, experts' weights and input don't agree. Notes how many experts are at work
/// (expert_groups.h), unless the router's numbers are stated.
Status moe_rule(InferContext& node);
/// Softmax and choice of the router, two products (three with gates apart) of every row for every
/// expert that it goes to, the activation between them, and the weighted sum. Rows go to the
/// experts that the router's numbers say, or else evenly to those at work.
Result<Work> moe_cost(const NodeView& node);
/// QMoE: the same; constant weights are 8 / expert_weight_bits numbers a byte along their last dim.
Status packed_moe_rule(InferContext& node);
/// Its work, as moe_cost().
Result<Work> packed_moe_cost(const NodeView& node);

// contrib_norm_rules.cpp
/// SkipLayerNormalization and its simplified kin: output as input 0, statistics (outputs 1, 2)
/// with the last dim 1, the sum (output 3) as input 0. Vectors must have the last dim's size.
Status skip_norm_rule(InferContext& node);
/// A normalisation of rows after input, skip and bias have been added.
Result<Work> skip_layer_norm_cost(const NodeView& node);
/// The same with squares only: one reduction an element, rows streamed twice.
Result<Work> skip_simplified_norm_cost(const NodeView& node);
/// EmbedLayerNormalization: ids B x S to B x S x hidden, a mask index of B and, on request, the
/// sum before the normalisation.
Status embed_norm_rule(InferContext& node);
/// One row of each embedding a token read and added, then a normalisation of rows.
Result<Work> embed_norm_cost(const NodeView& node);
/// QEmbedLayerNormalization: the same in the type of its scales (input 8), without the sum.
Status qembed_norm_rule(InferContext& node);
/// As EmbedLayerNormalization.
Result<Work> qembed_norm_cost(const NodeView& node);
/// GroupNorm and SkipGroupNorm: output as input 0, channels last unless the attribute says
/// otherwise; gain and shift one a channel. The sum (output 1 of the latter) is as input 0.
Status ms_group_norm_rule(InferContext& node);
/// A normalisation of groups, after skip and bias have been added, and SiLU behind it on request.
Result<Work> ms_group_norm_cost(const NodeView& node);
/// BiasGelu, and FastGelu, whose bias is optional: output as input 0, bias of the last dim's size.
Status bias_gelu_rule(InferContext& node);
/// BiasSplitGelu: N x S x D with a bias of D elements gives N x S x D / 2. An error when D is odd.
Status bias_split_gelu_rule(InferContext& node);
/// The approximation by tanh: 7 elementwise operations and a special one an element, 8 with a
/// bias.
Result<Work> fast_gelu_cost(const NodeView& node);

// contrib_quant_rules.cpp
/// QLinearAdd and QLinearMul: inputs 0 and 3 broadcast, in the type of input 0.
Status qlinear_binary_rule(InferContext& node);
/// One operation and three conversions an element: both operands and the result.
Result<Work> qlinear_binary_cost(const NodeView& node);
/// QLinearSigmoid: one special operation and two conversions an element.
Result<Work> qlinear_sigmoid_cost(const NodeView& node);
/// QLinearLeakyRelu: two elementwise operations and two conversions an element.
Result<Work> qlinear_leaky_relu_cost(const NodeView& node);
/// QLinearSoftmax: normalisation of rows along the axis, an exponential and two conversions an
/// element.
Result<Work> qlinear_softmax_cost(const NodeView& node);
/// QLinearConcat: inputs from 2 on are (data, scale, zero point); data joined along the axis.
Status qlinear_concat_rule(InferContext& node);
/// One conversion an element.
Result<Work> qlinear_concat_cost(const NodeView& node);
/// QLinearGlobalAveragePool: spatial dims become 1, channels where channels_last says.
Status qlinear_global_pool_rule(InferContext& node);
/// QLinearAveragePool: pool_outputs(), channels where channels_last says.
Status qlinear_average_pool_rule(InferContext& node);
/// One operation an input element, one conversion an output.
Result<Work> qlinear_global_pool_cost(const NodeView& node);
/// QLinearReduceMean: one accumulation an input element, one conversion a result.
Result<Work> qlinear_reduce_mean_cost(const NodeView& node);
/// One operation a window element, one conversion an output.
Result<Work> qlinear_average_pool_cost(const NodeView& node);
/// QLinearWhere: inputs 0, 1 and 4 broadcast, in the type of input 1.
Status qlinear_where_rule(InferContext& node);
/// One operation and a conversion an element.
Result<Work> qlinear_where_cost(const NodeView& node);
/// GatherBlockQuantized: as Gather along gather_axis, in the type of the scales; bytes of a table
/// hold 8 / bits numbers of its last dim. An error when the scales aren't one a block.
Status gather_blocks_rule(InferContext& node);
/// Rows moved, of a table that is unpacked off line. Where it, its scales or its zero points aren't
/// constant, rows are moved as they are stored, and each element is converted by those of its row.
Result<Work> gather_blocks_cost(const NodeView& node);
/// NhwcMaxPool: pool_outputs() with channels last.
Status nhwc_max_pool_rule(InferContext& node);
/// One operation a window element.
Result<Work> nhwc_max_pool_cost(const NodeView& node);

}  // namespace accsim::sim
