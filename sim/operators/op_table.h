#pragma once
#include <span>
#include <string_view>

#include "sim/operators/op_row.h"

namespace accsim::sim {

/// The last opset of ai.onnx that the rows and the kernels follow.
inline constexpr int64_t kNewestOpset = 28;

/// The families, each in its own file in a folder of its own beside this.
std::span<const OpRow> elementwise_rows();  ///< arithmetic, functions of one number, casts
std::span<const OpRow> logic_rows();        ///< comparisons, logic, bits, Where
std::span<const OpRow> activation_rows();   ///< Relu, Clip, Sigmoid, Gelu, ...
std::span<const OpRow> random_rows();       ///< RandomNormal, Bernoulli, ...
std::span<const OpRow> shape_rows();        ///< Shape, Reshape, Squeeze, Constant, Range, ...
std::span<const OpRow> movement_rows();     ///< Concat, Slice, Split, Gather, Transpose, Pad, ...
std::span<const OpRow> reduction_rows();    ///< Reduce*, ArgMax, TopK, CumSum, Softmax, ...
std::span<const OpRow> norm_rows();         ///< BatchNormalization, LayerNormalization, LRN, ...
std::span<const OpRow> conv_rows();         ///< Conv, ConvTranspose, ConvInteger, QLinearConv, ...
std::span<const OpRow> matmul_rows();  ///< Gemm, MatMul, Einsum, Attention, LSTM, GRU, RNN, ...
std::span<const OpRow> pool_rows();    ///< MaxPool, AveragePool, Resize, Upsample, RoiAlign, ...
std::span<const OpRow> quant_rows();   ///< QuantizeLinear, DequantizeLinear, ...
std::span<const OpRow> trained_quant_rows();  ///< of QONNX and FINN: Quant, MultiThreshold
std::span<const OpRow> signal_rows();         ///< DFT, STFT, windows, MelWeightMatrix
std::span<const OpRow> control_rows();        ///< If, Loop, Scan, sequences
// com.microsoft operators of real exports
std::span<const OpRow> contrib_rows();            ///< products, convolutions, norms, activations
std::span<const OpRow> contrib_attention_rows();  ///< attentions and rotation
std::span<const OpRow> contrib_quant_rows();      ///< quantised and packed ones
std::span<const OpRow> spelled_rows();            ///< those that others take the place of

/// The row of an operator ("" and "ai.onnx" are the same domain); nullptr when there is none.
const OpRow* find_op(std::string_view domain, std::string_view name);
inline const OpRow* find_op(const Node& node) { return find_op(node.domain, node.op_type); }
/// Every row of every family, families in the order above.
std::span<const OpRow* const> all_ops();

/// An operator that is known and has no row.
struct RefusedOp {
  std::string_view domain, name;
  std::string_view stands_for;  ///< what it computes, and why that has no cost here
  std::string_view instead;     ///< what its user can do
};
/// All of them, by domain and name.
std::span<const RefusedOp> refused_ops();
/// The entry of an operator; nullptr when it isn't refused.
const RefusedOp* find_refused(std::string_view domain, std::string_view name);

}  // namespace accsim::sim
