#include "sim/quantise/quantised_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hw/golden/golden.h"
#include "sim/pack/operand_layout.h"
#include "sim/program/reference_product.h"
#include "sim/quantise/folded_weights.h"

namespace accsim::sim {
namespace {

constexpr double kMostCode = 127;  ///< of int8 values, symmetrically

/// Batch dims of a MatMul must all be products of their own on both sides, or all rows of one.
bool plain_batches(const Graph& graph, const Node& node, const GemmOp& op) {
  if (weights_lie(node) != WeightLayout::kn) return true;
  const Dims &a = graph.tensor(node.inputs[0]).dims, &b = graph.tensor(node.inputs[1]).dims;
  if (a.size() < 2 || b.size() < 2) return false;
  if (op.batch == 1) return elements(b) == op.k() * op.n() && elements(a) == op.m() * op.k();
  return !op.a_shared && !op.b_shared &&
         Dims(a.begin(), a.end() - 2) == Dims(b.begin(), b.end() - 2);
}

/// Activations in the order of GemmOperands::a.
std::vector<int8_t> quantise_a(const Graph& graph, const Node& node, const GemmOp& op,
                               const ref::Array& a, double scale) {
  const std::vector<double> x = a.reals();
  std::vector<int8_t> out(x.size());
  if (is_convolution(node)) {  // NCHW to NHWC
    const int64_t channels = op.batch * op.channels, pixels = op.in[0] * op.in[1] * op.in[2];
    for (int64_t i = 0; i < op.images; ++i)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t p = 0; p < pixels; ++p)
          out[static_cast<size_t>((i * pixels + p) * channels + c)] =
              quantised_code(x[static_cast<size_t>((i * channels + c) * pixels + p)], scale, 127);
    return out;
  }
  const bool turn = is_turned(graph, node, "transA");
  for (int64_t m = 0; m < static_cast<int64_t>(x.size()) / op.k(); ++m)
    for (int64_t k = 0; k < op.k(); ++k)
      out[static_cast<size_t>(m * op.k() + k)] = quantised_code(
          x[static_cast<size_t>(turn ? k * op.m() + m : m * op.k() + k)], scale, 127);
  return out;
}

/// Element of the node's output that the machine's element `at` is: NHWC of a convolution.
int64_t element_of(const Node& node, const GemmOp& op, int64_t at) {
  if (!is_convolution(node)) return at;
  const int64_t pixels = op.out[0] * op.out[1] * op.out[2], channels = op.batch * op.outputs;
  return (at / (pixels * channels) * channels + at % channels) * pixels + at / channels % pixels;
}

/// What is added to the output, in its order in memory.
std::vector<int8_t> quantise_residual(const Node& node, const GemmOp& op, const ref::Array& r,
                                      double scale) {
  const std::vector<double> from = r.reals();
  std::vector<int8_t> out(from.size());
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = quantised_code(
        from[static_cast<size_t>(element_of(node, op, static_cast<int64_t>(i)))], scale, 127);
  return out;
}

/// What golden makes of a product's program is what the integer reference makes of the product.
Status equals_reference(const std::vector<int8_t>& golden, const std::vector<int8_t>& reference) {
  const auto [ours, theirs] = std::ranges::mismatch(golden, reference);
  if (ours == golden.end() && theirs == reference.end()) return ok();
  return Error{Errc::invalid,
               fmt::format("element {} of {} isn't what the integer reference has",
                           ours - golden.begin(), golden.size()),
               ""};
}

ref::Array dequantised_output(const Node& node, const GemmOp& op, const Tensor& shape,
                              const std::vector<int8_t>& q, double scale) {
  ref::Array out(shape.dtype, shape.dims);
  std::vector<double> values(q.size());
  for (size_t i = 0; i < q.size(); ++i)
    values[static_cast<size_t>(element_of(node, op, static_cast<int64_t>(i)))] = q[i] * scale;
  with_element_kind(out.kind(), [&]<class T>(T) {
    for (size_t i = 0; i < values.size(); ++i) out.data<T>()[i] = static_cast<T>(values[i]);
  });
  ref::round_elements(out);
  return out;
}

}  // namespace

std::vector<QuantisedLayer> quantised_layers(const Graph& graph, const CostedNetwork& network) {
  std::vector<QuantisedLayer> out;
  for (size_t i = 0; i < network.lowered.layers.size(); ++i) {
    const Layer& l = network.lowered.layers[i];
    const auto& mappings = network.mappings[i];
    // Copies of its operands may come before the product.
    const bool product = l.fate == Fate::gemm && mappings.size() == l.work.size() &&
                         mappings.back()->source_as<GemmSource>() &&
                         std::all_of(l.work.begin(), l.work.end() - 1, [](const WorkItem& item) {
                           return std::holds_alternative<MemoryOp>(item);
                         });
    if (!product) continue;
    const Node& node = graph.nodes[static_cast<size_t>(l.node)];
    const bool known = node.domain.empty() && weights_lie(node) != WeightLayout::unknown;
    const GemmOp& op = mappings.back()->source_as<GemmSource>()->problem.op;
    const auto floats = [&](TensorId id) { return is_float(graph.tensor(id).dtype); };
    if (!known || !floats(node.inputs[0]) || !floats(node.inputs[1]) ||
        !plain_batches(graph, node, op) ||
        elements(graph.tensor(node.inputs[0]).dims) != logical_a(op) ||
        elements(graph.tensor(node.inputs[1]).dims) != logical_weights(op))
      continue;
    const GemmSource& source = *mappings.back()->source_as<GemmSource>();
    QuantisedLayer q{i, l.node, l.node, {without_pitches(source.problem), source.tiling}};
    if (l.residual.is_of_node()) q.residual = l.inputs[l.residual.index()];
    for (const Layer& merged : network.lowered.layers)
      if (merged.merged_into == static_cast<int>(i) && merged.outputs[0] == l.outputs[0])
        q.last = merged.node;
    out.push_back(std::move(q));
  }
  return out;
}

Result<ref::Array> run_quantised(const Graph& graph, const CostedNetwork& network,
                                 const QuantisedLayer& layer, const hw::HwConfig& hw,
                                 const LayerOperands& given) {
  const Node& node = graph.nodes[static_cast<size_t>(layer.first)];
  const GemmOp& op = layer.source.problem.op;
  GemmOperands operands;
  operands.a = quantise_a(graph, node, op, given.a, given.scales.a);
  auto folded = folded_weights({graph, network.lowered, layer.layer, op}, given.b, given.constants);
  if (!folded) return folded.errors();
  RealWeights& real = *folded;
  const Layer& lowered = network.lowered.layers[layer.layer];
  LayerScales scales = given.scales;
  if (layer.source.problem.epilogue.table) {
    auto table =
        function_table(graph, lowered.function, given.constants, {scales.argument}, {scales.out});
    if (!table) return table.errors();
    operands.table = std::move(*table);
    scales.out = scales.argument;
  } else if (!lowered.function.empty()) {
    const double reach = kMostCode * scales.argument;
    const Status s = fold_affine(graph, lowered, given.constants, reach, scales.b > 0, real);
    if (!s) return s.errors();
  }
  if (layer.source.problem.b_encoding.is_packed())
    quantise_narrow(real, layer.source.problem, scales, operands);
  else
    quantise_weights(real, op, scales, operands);
  const auto wanted = static_cast<size_t>(layer.source.problem.pixel_outputs());
  if (operands.channels.size() != wanted)
    operands.channels.resize(
        wanted, operands.channels.empty() ? GemmOperands::Channel{} : operands.channels.front());
  GemmProblem problem = layer.source.problem;
  if (problem.residual) {
    operands.residual = quantise_residual(node, op, *given.residual, given.scales.residual);
    problem.epilogue.residual = residual_factor(given.scales.residual / given.scales.out);
  }
  const hw::Program program = emit(problem, hw, layer.source.tiling);
  hw::MemoryImage image = pack_operands(problem, hw, layer.source.tiling, operands);
  if (Status s = hw::run_golden(program, hw, image); !s) return s.errors();
  const std::vector<int8_t> result = unpack_output(image);
  if (Status s = equals_reference(result, reference_product(problem, operands)); !s)
    return s.errors();
  const Tensor& shape = graph.tensor(lowered.outputs[0]);
  return dequantised_output(node, op, shape, result, given.scales.out);
}

}  // namespace accsim::sim
