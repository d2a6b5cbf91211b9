#include <fmt/format.h>

#include <algorithm>

#include "sim/operators/matmul/attention_rules.h"
#include "sim/operators/matmul/matmul_rules.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {

GemmOp MatMulPlan::gemm_op(ValuePort a_port, ValuePort b_port, ValuePort bias_port) const {
  GemmOp op = matrix_product(batch, m, k, n);
  op.a_shared = a_shared;
  op.a_port = a_port;
  op.b_port = b_port;
  op.bias_port = bias_port;
  return op;
}

Result<MatMulPlan> plan_matmul(const NodeView& node, Dims a, Dims b) {
  if (a.empty() || b.empty()) return bad_node(node, "an operand is a scalar");
  const bool a_vector = a.size() == 1, b_vector = b.size() == 1;
  const std::string shapes = fmt::format("{} x {}", to_string(a), to_string(b));
  if (a_vector) a.insert(a.begin(), 1);
  if (b_vector) b.push_back(1);
  const std::optional<Dims> batch =
      broadcast_dims(Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2));
  if (!batch || a.back() != b[b.size() - 2])
    return bad_node(node, fmt::format("operands {} don't go together", shapes));
  MatMulPlan plan;
  plan.m = a[a.size() - 2];
  plan.k = a.back();
  plan.n = b.back();
  bool a_varies = false;
  for (size_t i = 0; i < batch->size(); ++i) {
    // Batch dims align at their ends.
    const size_t back = batch->size() - i + 2;
    const int64_t in_a = back <= a.size() ? a[a.size() - back] : 1;
    const int64_t in_b = back <= b.size() ? b[b.size() - back] : 1;
    if (in_b == 1) {
      plan.m = capped_product({plan.m, in_a});
    } else {
      plan.batch = capped_product({plan.batch, in_b});
      a_varies = a_varies || in_a != 1;
    }
  }
  plan.a_shared = plan.batch > 1 && !a_varies;
  plan.out = *batch;
  if (!a_vector) plan.out.push_back(a[a.size() - 2]);
  if (!b_vector) plan.out.push_back(b.back());
  return plan;
}

Result<GemmPlan> plan_gemm(const NodeView& node, size_t a, size_t b, size_t c) {
  if (Status s = want_rank(node, a, 2); !s) return s.errors();
  if (Status s = want_rank(node, b, 2); !s) return s.errors();
  const bool trans_a = int_attr(node, "transA", 0) != 0, trans_b = int_attr(node, "transB", 0) != 0;
  GemmPlan plan;
  plan.a_transposed = trans_a;
  plan.b_transposed = trans_b;
  plan.m = node.dims(a)[trans_a ? 1 : 0];
  plan.k = node.dims(a)[trans_a ? 0 : 1];
  plan.n = node.dims(b)[trans_b ? 0 : 1];
  if (node.dims(b)[trans_b ? 1 : 0] != plan.k)
    return bad_node(node, fmt::format("operands {} and {} don't go together",
                                      to_string(node.dims(a)), to_string(node.dims(b))));
  if (!node.has_input(c)) return plan;
  const Dims& bias = node.dims(c);
  if (broadcast_dims(bias, {plan.m, plan.n}) != Dims{plan.m, plan.n})
    return bad_node(
        node, fmt::format("C {} doesn't broadcast to {}x{}", to_string(bias), plan.m, plan.n));
  plan.c_per_column = bias.size() < 2 || bias[0] == 1;
  return plan;
}

Work gemm_work(const NodeView& node, const GemmPlan& plan, size_t a, size_t b, size_t c) {
  GemmOp gemm = matrix_product(1, plan.m, plan.k, plan.n);
  gemm.a_port = static_cast<int>(a);
  gemm.b_port = static_cast<int>(b);
  gemm.a_transposed = plan.a_transposed;
  gemm.b_transposed = plan.b_transposed;
  if (plan.c_per_column) gemm.bias_port = static_cast<int>(c);
  Work work{gemm};
  if (node.has_input(c) && !plan.c_per_column) {
    VectorOp add;
    read_part(node, a, capped_product({plan.m, plan.n}), 0, add.inputs);
    read_input(node, c, add.inputs);
    write_output(node, 0, add.outputs);
    add[VectorClass::elementwise] = capped_product({plan.m, plan.n});
    work.emplace_back(add);
  }
  return work;
}

Status gemm_rule(InferContext& node) {
  const Result<GemmPlan> plan = plan_gemm(node, 0, 1, 2);
  if (!plan) return plan.errors();
  return set_shape(node, 0, node.dtype(0), {plan->m, plan->n});
}

Result<Work> gemm_cost(const NodeView& node) {
  const Result<GemmPlan> plan = plan_gemm(node, 0, 1, 2);
  if (!plan) return plan.errors();
  return checked_work(node, gemm_work(node, *plan, 0, 1, 2));
}

namespace {

Status matmul_output(InferContext& node, size_t b, DType dtype) {
  Result<MatMulPlan> plan = plan_matmul(node, node.dims(0), node.dims(b));
  if (!plan) return plan.errors();
  return set_shape(node, 0, dtype, std::move(plan->out));
}

template <int kB>
Result<Work> matmul_cost(const NodeView& node) {
  const Result<MatMulPlan> plan = plan_matmul(node, node.dims(0), node.dims(kB));
  if (!plan) return plan.errors();
  return checked_work(node, {plan->gemm_op(0, kB)});
}

Status matmul_rule(InferContext& node) { return matmul_output(node, 1, node.dtype(0)); }
Status matmul_integer_rule(InferContext& node) { return matmul_output(node, 1, DType::int32); }
Status qlinear_matmul_rule(InferContext& node) { return matmul_output(node, 3, node.dtype(7)); }

constexpr OpRow kMatmulOperators[] = {
    {.name = "MatMul",
     .ports = {{"A"}, {"B", PortRole::weight}},
     .fate = Fate::gemm,
     .shape = matmul_rule,
     .cost = matmul_cost<1>,
     .same_operand_types = true,
     .weights = WeightLayout::kn},
    {.name = "Gemm",
     .ports = {{"A"}, {"B", PortRole::weight}, {"C", PortRole::bias}},
     .min_inputs = 2,
     .attributes = {"alpha", "beta", "transA", "transB"},
     .fate = Fate::gemm,
     .shape = gemm_rule,
     .cost = gemm_cost,
     .same_operand_types = true,
     .weights = WeightLayout::kn_or_nk},
    {.name = "MatMulInteger",
     .since = 10,
     .ports = {{"A"},
               {"B", PortRole::weight},
               {"a_zero_point", PortRole::zero_point, 0},
               {"b_zero_point", PortRole::zero_point, 1}},
     .min_inputs = 2,
     .fate = Fate::gemm,
     .shape = matmul_integer_rule,
     .cost = matmul_cost<1>,
     .weights = WeightLayout::kn,
     .real = op::kMatMul},
    {.name = "QLinearMatMul",
     .since = 10,
     .ports = {{"a"},
               {"a_scale", PortRole::scale, 0},
               {"a_zero_point", PortRole::zero_point, 0},
               {"b", PortRole::weight},
               {"b_scale", PortRole::weight_scale, 3},
               {"b_zero_point", PortRole::zero_point, 3},
               {"y_scale", PortRole::scale, kResult},
               {"y_zero_point", PortRole::zero_point, kResult}},
     .fate = Fate::gemm,
     .shape = qlinear_matmul_rule,
     .cost = matmul_cost<3>,
     .weights = WeightLayout::kn,
     .real = op::kMatMul},
    {.name = "Einsum",
     .since = 12,
     .ports = {{"Inputs"}, {"Inputs", PortRole::weight}},
     .max_inputs = kVariadic,
     .attributes = {"equation"},
     .fate = Fate::gemm,
     .shape = einsum_rule,
     .cost = einsum_cost,
     .same_operand_types = true},
    {.name = "RNN",
     .ports = {{"X"},
               {"W", PortRole::weight},
               {"R", PortRole::weight},
               {"B", PortRole::shift},
               {"sequence_lens"},
               {"initial_h"}},
     .min_inputs = 3,
     .attributes = {"activation_alpha", "activation_beta", "activations", "clip", "direction",
                    "hidden_size", "layout"},
     .fate = Fate::gemm,
     .shape = recurrent_rule<1>,
     .cost = recurrent_cost<1>,
     .same_operand_types = true},
    {.name = "GRU",
     .ports = {{"X"},
               {"W", PortRole::weight},
               {"R", PortRole::weight},
               {"B", PortRole::shift},
               {"sequence_lens"},
               {"initial_h"}},
     .min_inputs = 3,
     .attributes = {"activation_alpha", "activation_beta", "activations", "clip", "direction",
                    "hidden_size", "layout", "linear_before_reset"},
     .fate = Fate::gemm,
     .shape = recurrent_rule<3>,
     .cost = recurrent_cost<3>,
     .same_operand_types = true},
    {.name = "LSTM",
     .ports = {{"X"},
               {"W", PortRole::weight},
               {"R", PortRole::weight},
               {"B", PortRole::shift},
               {"sequence_lens"},
               {"initial_h"},
               {"initial_c"},
               {"P", PortRole::parameter}},
     .min_inputs = 3,
     .attributes = {"activation_alpha", "activation_beta", "activations", "clip", "direction",
                    "hidden_size", "input_forget", "layout"},
     .fate = Fate::gemm,
     .shape = recurrent_rule<4>,
     .cost = recurrent_cost<4>,
     .same_operand_types = true},
    {.name = "Attention",
     .since = 23,
     .ports =
         {{"Q"}, {"K"}, {"V"}, {"attn_mask"}, {"past_key"}, {"past_value"}, {"nonpad_kv_seqlen"}},
     .min_inputs = 3,
     .attributes = {"is_causal", "kv_num_heads", "left_window_size", "q_num_heads",
                    "qk_matmul_output_mode", "right_window_size", "scale", "softcap",
                    "softmax_precision"},
     .fate = Fate::gemm,
     .shape = attention_rule,
     .cost = attention_cost,
     .rows = attention_rows},
    {.name = "LinearAttention",
     .since = 27,
     .ports = {{"query"}, {"key"}, {"value"}, {"past_state"}, {"decay"}, {"beta"}},
     .min_inputs = 3,
     .attributes = {"chunk_size", "kv_num_heads", "q_num_heads", "scale", "update_rule"},
     .fate = Fate::gemm,
     .shape = linear_attention_rule,
     .cost = linear_attention_cost},
};

}  // namespace

std::span<const OpRow> matmul_rows() { return kMatmulOperators; }

}  // namespace accsim::sim
