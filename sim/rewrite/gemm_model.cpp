#include "sim/rewrite/gemm_model.h"

#include <fmt/format.h>

#include "sim/onnx/writer.h"
#include "sim/operators/names.h"

namespace accsim::sim {
namespace {

constexpr int64_t kMostDim = int64_t{1} << 31;
constexpr int64_t kMostStored = int64_t{1} << 28;  // elements
constexpr int64_t kNewestIr = 8;                   // which opset 7 and newer go with

/// Uniform in [-1, 1) (splitmix64), so that the same seed gives the same file everywhere.
std::vector<double> random_reals(int64_t count, uint64_t& state) {
  std::vector<double> out(static_cast<size_t>(count));
  for (double& value : out) {
    uint64_t z = state += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    z ^= z >> 31;
    value = static_cast<double>(z >> 11) * 0x1p-52 - 1;
  }
  return out;
}

Status check_options(const GemmModelOptions& o, bool matmul) {
  for (const int64_t size : {o.m, o.k, o.n, o.batch})
    if (size < 1 || size >= kMostDim)
      return Error{Errc::usage, fmt::format("size {} isn't within 1 and 2^31 - 1", size), "gemm"};
  if (matmul && (o.a_transposed || o.b_transposed || o.alpha != 1 || o.beta != 1 || o.bias))
    return Error{Errc::usage,
                 fmt::format("MatMul{} has no transposition, alpha, beta or bias",
                             o.batch > 1 ? ", which --batch needs," : ""),
                 "gemm"};
  const auto stored = checked_elements({o.batch, o.k, o.n});
  if (o.weight_seed && (!stored || *stored > kMostStored))
    return Error{Errc::capacity, "stored weights would be more than 1 GiB; leave out --weights",
                 "gemm"};
  return ok();
}

}  // namespace

Result<std::string> gemm_model(const GemmModelOptions& o) {
  const bool matmul = o.batch > 1 || o.force_matmul;
  if (const Status good = check_options(o, matmul); !good) return good.errors();
  ModelDef model;
  model.ir_version = kNewestIr;
  model.producer = "accsim";
  model.opsets[""] = o.opset;
  GraphDef& graph = model.graph;
  graph.name = fmt::format("gemm_{}x{}x{}", o.m, o.k, o.n);
  uint64_t state = o.weight_seed.value_or(0);
  const auto operand = [&](const char* name, Dims dims, bool weight) {
    if (!weight || !o.weight_seed) {
      graph.inputs.push_back(stated_value(name, DType::float32, dims));
      return;
    }
    auto values = random_reals(elements(dims), state);
    graph.initializers.push_back(stored_reals(name, std::move(dims), std::move(values)));
  };
  const auto batched = [&](int64_t rows, int64_t cols) {
    return o.batch > 1 ? Dims{o.batch, rows, cols} : Dims{rows, cols};
  };
  operand("A", o.a_transposed ? Dims{o.k, o.m} : batched(o.m, o.k), false);
  operand("B", o.b_transposed ? Dims{o.n, o.k} : batched(o.k, o.n), true);
  // Before opset 11 the third input of Gemm isn't optional.
  const bool bias = !matmul && (o.bias || o.opset < 11);
  if (bias && o.bias)
    operand("C", {o.n}, true);
  else if (bias)
    graph.initializers.push_back(stored_reals("C", {1}, {0.0}));
  NodeDef node;
  node.name = "gemm";
  node.op_type = matmul ? op::kMatMul : op::kGemm;
  node.inputs = {"A", "B"};
  if (bias) node.inputs.push_back("C");
  node.outputs = {"Y"};
  if (o.a_transposed) node.attributes.push_back({"transA", "", int64_t{1}});
  if (o.b_transposed) node.attributes.push_back({"transB", "", int64_t{1}});
  if (o.alpha != 1) node.attributes.push_back({"alpha", "", o.alpha});
  if (o.beta != 1) node.attributes.push_back({"beta", "", o.beta});
  graph.nodes.push_back(std::move(node));
  graph.outputs.push_back(stated_value("Y", DType::float32, batched(o.m, o.n)));
  return write_model(model);
}

}  // namespace accsim::sim
