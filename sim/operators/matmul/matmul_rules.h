#pragma once
#include "sim/base/dims.h"
#include "sim/operators/node_view.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// A NumPy matmul as products on the array.
struct MatMulPlan {
  int64_t batch = 1, m = 1, k = 1, n = 1;
  bool a_shared = false;
  Dims out;

  /// The product, with the given node inputs as operands (bias -1: none).
  GemmOp gemm_op(ValuePort a_port, ValuePort b_port, ValuePort bias_port = ValuePort::none()) const;
};

/// Plans a x b. Batch dims along which b doesn't vary become rows of one product; the others are
/// products of their own.
Result<MatMulPlan> plan_matmul(const NodeView& node, Dims a, Dims b);

/// A Gemm: M x K by K x N, plus an optional C that broadcasts to M x N.
struct GemmPlan {
  int64_t m = 0, k = 0, n = 0;
  bool a_transposed = false, b_transposed = false;
  bool c_per_column = false;  ///< C is the same in every row, so the array's bias does it
};
/// `c` is the port of C; attributes transA and transB are read from the node.
Result<GemmPlan> plan_gemm(const NodeView& node, size_t a, size_t b, size_t c);

/// The product of a plan, followed by a vector add when C isn't per column.
Work gemm_work(const NodeView& node, const GemmPlan& plan, size_t a, size_t b, size_t c);

/// Gemm: M x N, in the type of A.
Status gemm_rule(InferContext& node);
/// gemm_work() with inputs A, B, C at 0, 1, 2.
Result<Work> gemm_cost(const NodeView& node);

// Rules whose rows stand among matmul_rows().
/// Einsum: the output term's dims. Errors: an equation that doesn't parse or doesn't go with
/// the inputs.
Status einsum_rule(InferContext& node);
/// Two operands: a product with batch, M, K, N from the label classes, or an elementwise product
/// when nothing is summed. One operand: a sum or a copy. More: pairs from left to right.
Result<Work> einsum_cost(const NodeView& node);

/// RNN, GRU and LSTM: all steps' states (Y), the last (Y_h) and, of an LSTM, the last cell
/// state (Y_c), by direction and layout.
template <int kGates>  ///< 1: RNN, 3: GRU, 4: LSTM
Status recurrent_rule(InferContext& node);
/// Per direction: one product over all steps for the inputs, one product a step for the state, and
/// the gates as vector work.
template <int kGates>
Result<Work> recurrent_cost(const NodeView& node);
/// DynamicQuantizeLSTM: an LSTM whose W and R are turned, and integers; their scales and zero
/// points are one or four times the hidden size a direction.
Status dynamic_lstm_rule(InferContext& node);
/// As LSTM: who makes its input and state rounds them, as before DynamicQuantizeLinear.
Result<Work> dynamic_lstm_cost(const NodeView& node);

}  // namespace accsim::sim
