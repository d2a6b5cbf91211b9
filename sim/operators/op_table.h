#pragma once
#include <span>
#include <string_view>

#include "sim/base/result.h"
#include "sim/operators/node_view.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// Sets dtype and dims of every output (InferContext::set_output), from the inputs' dims, dtypes,
/// attributes and, where shapes depend on them, values.
using ShapeRule = Status (*)(InferContext&);
/// Sets the values of the outputs; called after the shape rule when every present input has a known
/// value and the outputs are small. May set nothing.
using ValueRule = Status (*)(InferContext&);
/// What the node asks of the machine; called with outputs known. An empty Work is for views.
using CostRule = Result<Work> (*)(const NodeView&);

inline constexpr int kVariadic = 1 << 20;

/// Everything the program knows of one operator. Adding an operator is one row, its rules and a
/// test.
struct OpRow {
  std::string_view name;
  int since;                   ///< first opset version that has it
  int min_inputs, max_inputs;  ///< kVariadic: no limit
  Fate fate;                   ///< of a node that isn't folded
  ShapeRule shape;
  ValueRule value;               ///< nullptr: never folded to a value
  CostRule cost;                 ///< nullptr only for Fate::view
  std::string_view params = "";  ///< inputs that hold parameters, e.g. "W,B" roles as digits: "12"
  std::string_view domain = "";  ///< "" for ai.onnx
};

/// The families, each in its own file in a folder of its own beside this.
std::span<const OpRow> elementwise_rows();
std::span<const OpRow> shape_rows();      ///< Shape, Reshape, Squeeze, Constant, Range, ...
std::span<const OpRow> movement_rows();   ///< Concat, Slice, Split, Gather, Transpose, Pad, ...
std::span<const OpRow> reduction_rows();  ///< Reduce*, ArgMax, TopK, CumSum, Softmax, ...
std::span<const OpRow> norm_rows();       ///< BatchNormalization, LayerNormalization, LRN, ...
std::span<const OpRow> conv_rows();       ///< Conv, ConvTranspose, ConvInteger, QLinearConv, ...
std::span<const OpRow> matmul_rows();     ///< Gemm, MatMul, Einsum, Attention, LSTM, GRU, RNN, ...
std::span<const OpRow> pool_rows();       ///< MaxPool, AveragePool, Resize, Upsample, RoiAlign, ...
std::span<const OpRow> quant_rows();      ///< QuantizeLinear, DequantizeLinear, ...
std::span<const OpRow> signal_rows();     ///< DFT, STFT, windows, MelWeightMatrix
std::span<const OpRow> contrib_rows();    ///< com.microsoft operators of real exports

/// The row of an operator ("" and "ai.onnx" are the same domain); nullptr when there is none.
const OpRow* find_op(std::string_view domain, std::string_view name);
/// Every row of every family, families in the order above.
std::span<const OpRow* const> all_ops();

}  // namespace accsim::sim
