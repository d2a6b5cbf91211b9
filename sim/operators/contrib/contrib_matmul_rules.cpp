#include <fmt/format.h>

#include <algorithm>

#include "sim/operators/contrib/contrib_rules.h"
#include "sim/operators/conv/conv_rules.h"
#include "sim/operators/matmul/matmul_rules.h"
#include "sim/operators/names.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

/// Dims after FusedMatMul's transpositions: `batch` moves the first dim behind the other batch
/// dims, `matrix` swaps the last two. Vectors stay.
Dims swapped_dims(Dims dims, bool batch, bool matrix) {
  if (dims.size() < 2) return dims;
  if (batch && dims.size() > 2) std::rotate(dims.begin(), dims.begin() + 1, dims.end() - 1);
  if (matrix) std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return dims;
}

Result<MatMulPlan> plan_fused(const NodeView& node) {
  const auto flag = [&](std::string_view name) { return int_attr(node, name, 0) != 0; };
  return plan_matmul(node, swapped_dims(node.dims(0), flag("transBatchA"), flag("transA")),
                     swapped_dims(node.dims(1), flag("transBatchB"), flag("transB")));
}

/// The work of a fused activation over output 0. Relu and clips are the array's own last step.
Status add_activation(const NodeView& node, Work& work) {
  const std::string activation = node.attr("activation", "");
  if (activation.empty() || activation == op::kRelu || activation == op::kClip) return ok();
  const bool special = activation == op::kSigmoid || activation == op::kTanh;
  if (!special && activation != op::kLeakyRelu && activation != op::kHardSigmoid)
    return unsupported_node(node, fmt::format("activation '{}' isn't known", activation));
  VectorOp op;
  write_output(node, 0, op.outputs);
  for (const Access& a : op.outputs) op.inputs.push_back({0, a.elements, 0});
  op[special ? VectorClass::special : VectorClass::elementwise] =
      capped_product({special ? 1 : 2, output_size(node, 0)});
  work.emplace_back(op);
  return ok();
}

/// An error when input i, a bias, is there and isn't one element per column.
Status check_bias(const NodeView& node, size_t i, int64_t columns) {
  if (!node.has_input(i) || node.dims(i) == Dims{columns}) return ok();
  return bad_node(node,
                  fmt::format("bias {} must have {} elements", to_string(node.dims(i)), columns));
}

}  // namespace

Status fused_matmul_rule(InferContext& node) {
  Result<MatMulPlan> plan = plan_fused(node);
  if (!plan) return plan.errors();
  return set_shape(node, 0, node.dtype(0), std::move(plan->out));
}

Result<Work> fused_matmul_cost(const NodeView& node) {
  const Result<MatMulPlan> plan = plan_fused(node);
  if (!plan) return plan.errors();
  return checked_work(node, {plan->gemm_op(0, 1)});
}

Result<Work> fused_gemm_cost(const NodeView& node) {
  Result<Work> work = gemm_cost(node);
  if (!work) return work;
  if (Status s = add_activation(node, *work); !s) return s.errors();
  return checked_work(node, std::move(*work));
}

// --- MatMulNBits: weights packed N x blocks x bytes ---

Status matmul_nbits_rule(InferContext& node) {
  const int64_t k = int_attr(node, "K", 0), n = int_attr(node, "N", 0);
  const int64_t block = int_attr(node, "block_size", 0), bits = int_attr(node, "bits", 4);
  if (k < 1 || n < 1 || block < 1 || bits < 1 || bits > 8)
    return bad_node(node, fmt::format("K = {}, N = {}, block_size = {}, bits = {} make no weights",
                                      k, n, block, bits));
  if (Status s = want_rank_from(node, 0, 1); !s) return s;
  if (node.dims(0).back() != k)
    return bad_node(node, fmt::format("input {} must end in K = {}", to_string(node.dims(0)), k));
  const int64_t blocks = ceil_div(k, block);
  const int64_t packed = capped_product({n, blocks, ceil_div(capped_product({block, bits}), 8)});
  // Files hold them as N x blocks x bytes or flattened, in elements of one byte or more.
  if (capped_product({input_size(node, 1), accsim::bits(node.dtype(1))}) !=
      capped_product({8, packed}))
    return bad_node(node, fmt::format("weights {} of type {} don't hold {} bytes",
                                      to_string(node.dims(1)), name(node.dtype(1)), packed));
  if (input_size(node, 2) != capped_product({n, blocks}))
    return bad_node(node, fmt::format("scales {} must have {} elements", to_string(node.dims(2)),
                                      capped_product({n, blocks})));
  if (Status s = check_bias(node, 5, n); !s) return s;
  Dims out = node.dims(0);
  out.back() = n;
  return set_shape(node, 0, node.dtype(0), std::move(out));
}

Result<Work> matmul_nbits_cost(const NodeView& node) {
  return packed_product_work(node, int_attr(node, "K", 0), int_attr(node, "N", 0), 5);
}

Result<Work> packed_product_work(const NodeView& node, int64_t k, int64_t n, size_t bias) {
  const Dims& x = node.dims(0);
  GemmOp gemm = matrix_product(1, elements(x, 0, x.size() - 1), k, n);
  if (node.has_input(bias)) gemm.bias_port = static_cast<int>(bias);
  // Constants are unpacked off line, into the machine's own type.
  bool constant = true;
  for (size_t i = 1; i < bias; ++i)
    constant = constant && (!node.has_input(i) || node.input(i).constant);
  if (constant) return checked_work(node, {gemm});
  VectorOp unpack;
  for (size_t i = 1; i < bias; ++i) read_input(node, i, unpack.inputs);
  unpack[VectorClass::convert] = capped_product({k, n});
  unpack.outputs.push_back({ValuePort::made(1, 0), capped_product({k, n}), 0});
  gemm.b_port = ValuePort::made(1, 0);
  return checked_work(node, {unpack, gemm});
}

// --- Quantised products with float results ---

namespace {

Status float_matmul(InferContext& node, size_t bias, DType type) {
  Result<MatMulPlan> plan = plan_matmul(node, node.dims(0), node.dims(1));
  if (!plan) return plan.errors();
  if (Status s = check_bias(node, bias, plan->n); !s) return s;
  return set_shape(node, 0, type, std::move(plan->out));
}

}  // namespace

Status dynamic_matmul_rule(InferContext& node) { return float_matmul(node, 4, node.dtype(0)); }

Result<Work> dynamic_matmul_cost(const NodeView& node) {
  const Result<MatMulPlan> plan = plan_matmul(node, node.dims(0), node.dims(1));
  if (!plan) return plan.errors();
  return checked_work(node,
                      {plan->gemm_op(0, 1, node.has_input(4) ? ValuePort(4) : ValuePort::none())});
}

Status matmul_to_float_rule(InferContext& node) { return float_matmul(node, 6, node.dtype(2)); }

Result<Work> matmul_to_float_cost(const NodeView& node) {
  const Result<MatMulPlan> plan = plan_matmul(node, node.dims(0), node.dims(1));
  if (!plan) return plan.errors();
  return checked_work(node,
                      {plan->gemm_op(0, 1, node.has_input(6) ? ValuePort(6) : ValuePort::none())});
}

Status qgemm_rule(InferContext& node) {
  const Result<GemmPlan> plan = plan_gemm(node, 0, 3, 6);
  if (!plan) return plan.errors();
  // Without an output scale the result stays float.
  const DType type = !node.has_input(7)  ? DType::float32
                     : node.has_input(8) ? node.dtype(8)
                                         : node.dtype(0);
  return set_shape(node, 0, type, {plan->m, plan->n});
}

Result<Work> qgemm_cost(const NodeView& node) {
  const Result<GemmPlan> plan = plan_gemm(node, 0, 3, 6);
  if (!plan) return plan.errors();
  return checked_work(node, gemm_work(node, *plan, 0, 3, 6));
}

// --- Convolutions ---

namespace {

Status fused_conv_shape(InferContext& node, const ConvPorts& ports) {
  const Result<ConvShape> shape = conv_shape(node, ports);
  if (!shape) return shape.errors();
  const Dims out = shape->output_dims(ports.channels_last);
  if (node.has_input(3) && node.dims(3) != out)
    return bad_node(node, fmt::format("Z {} must be {}", to_string(node.dims(3)), to_string(out)));
  return set_shape(node, 0, node.dtype(0), out);
}

Result<Work> fused_conv_work(const NodeView& node, const ConvPorts& ports) {
  const Result<ConvShape> shape = conv_shape(node, ports);
  if (!shape) return shape.errors();
  Result<Work> work = checked_work(node, {conv_gemm(node, *shape, ports)});
  if (!work) return work;
  if (node.has_input(3)) {
    VectorOp add;
    read_part(node, 0, output_size(node, 0), 0, add.inputs);
    read_input(node, 3, add.inputs);
    write_output(node, 0, add.outputs);
    add[VectorClass::elementwise] = output_size(node, 0);
    work->emplace_back(add);
  }
  if (Status s = add_activation(node, *work); !s) return s.errors();
  return checked_work(node, std::move(*work));
}

}  // namespace

Status fused_conv_rule(InferContext& node) { return fused_conv_shape(node, {}); }
Result<Work> fused_conv_cost(const NodeView& node) { return fused_conv_work(node, {}); }

namespace {

ConvPorts ms_qlinear_ports(const NodeView& node) {
  return {0, 3, 8, int_attr(node, "channels_last", 0) != 0};
}

}  // namespace

Status ms_qlinear_conv_rule(InferContext& node) {
  const ConvPorts ports = ms_qlinear_ports(node);
  const Result<ConvShape> shape = conv_shape(node, ports);
  if (!shape) return shape.errors();
  return set_shape(node, 0, node.dtype(7), shape->output_dims(ports.channels_last));
}

Result<Work> ms_qlinear_conv_cost(const NodeView& node) {
  const ConvPorts ports = ms_qlinear_ports(node);
  const Result<ConvShape> shape = conv_shape(node, ports);
  if (!shape) return shape.errors();
  return checked_work(node, {conv_gemm(node, *shape, ports)});
}

}  // namespace accsim::sim
