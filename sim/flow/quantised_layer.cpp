#include "sim/flow/quantised_layer.h"

#include <algorithm>
#include <cmath>

#include "hw/golden/golden.h"
#include "sim/operators/node_view.h"
#include "sim/operators/op_table.h"
#include "sim/pack/operand_layout.h"

namespace accsim::sim {
namespace {

constexpr double kMostCode = 127;  ///< of int8 values, symmetrically

WeightLayout layout_of(const Node& node) {
  const OpRow* row = find_op(node);
  return row ? row->weights : WeightLayout::unknown;
}

bool is_conv(const Node& node) { return layout_of(node) == WeightLayout::oihw; }

bool turned(const Graph& graph, const Node& node, const char* attribute) {
  return layout_of(node) == WeightLayout::kn_or_nk &&
         NodeView(graph, node).attr(attribute, int64_t{0}) != 0;
}

/// Batch dims of a MatMul must all be products of their own on both sides, or all rows of one.
bool plain_batches(const Graph& graph, const Node& node, const GemmOp& op) {
  if (layout_of(node) != WeightLayout::kn) return true;
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
  if (is_conv(node)) {  // NCHW to NHWC
    const int64_t channels = op.batch * op.channels, pixels = op.in[0] * op.in[1] * op.in[2];
    for (int64_t i = 0; i < op.images; ++i)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t p = 0; p < pixels; ++p)
          out[static_cast<size_t>((i * pixels + p) * channels + c)] =
              quantised(x[static_cast<size_t>((i * channels + c) * pixels + p)], scale, 127);
    return out;
  }
  const bool turn = turned(graph, node, "transA");
  for (int64_t m = 0; m < static_cast<int64_t>(x.size()) / op.k(); ++m)
    for (int64_t k = 0; k < op.k(); ++k)
      out[static_cast<size_t>(m * op.k() + k)] =
          quantised(x[static_cast<size_t>(turn ? k * op.m() + m : m * op.k() + k)], scale, 127);
  return out;
}

RealWeights ordered_weights(const Graph& graph, const Node& node, const GemmOp& op,
                            const ref::Array& b) {
  const std::vector<double> from = b.reals();
  const int64_t taps = op.k() / op.channels, n = op.outputs, c = op.channels;
  RealWeights out{std::vector<double>(from.size()), {}};
  out.bias.assign(static_cast<size_t>(op.grouped || op.batch == 1 ? op.batch * n : n), 0);
  for (size_t i = 0; i < from.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t o = at % n, channel = at / n % c, tap = at / (n * c) % taps,
                  g = at / (n * c * taps);
    int64_t source = at;  // K x N, batch by batch
    if (is_conv(node))
      source = ((g * n + o) * c + channel) * taps + tap;
    else if (turned(graph, node, "transB"))
      source = o * c + channel;
    out.w[i] = from[static_cast<size_t>(source)];
  }
  return out;
}

/// Multiplies output channel o of the weights (and its bias) by factor.
void scale_channel(RealWeights& r, const GemmOp& op, int64_t channel, double factor) {
  r.bias[static_cast<size_t>(channel)] *= factor;
  const int64_t each = op.k() * op.outputs, g = op.grouped ? channel / op.outputs : 0;
  const int64_t o = channel % op.outputs;
  for (int64_t i = g * each + o; i < (g + 1) * each; i += op.outputs)
    r.w[static_cast<size_t>(i)] *= factor;
}

/// Adds the node's own bias, and folds what has been merged into the layer.
Status fold_constants(const Graph& graph, const CostedNetwork& network, const QuantisedLayer& layer,
                      const GemmOp& op, const Constants& constants, RealWeights& r) {
  const Node& node = graph.nodes[static_cast<size_t>(layer.first)];
  const NodeView view(graph, node);
  const auto add = [&](TensorId id, double factor) -> Status {
    Result<ref::Array> array = constants(id);
    if (!array) return array.errors();
    const std::vector<double> bias = array->reals();
    for (size_t i = 0; i < r.bias.size() && !bias.empty(); ++i)
      r.bias[i] += factor * bias[bias.size() == 1 ? 0 : i % bias.size()];
    return ok();
  };
  // Gemm's factors; other products don't have these attributes.
  const double alpha = view.attr("alpha", 1.0), beta = view.attr("beta", 1.0);
  if (alpha != 1)
    for (double& w : r.w) w *= alpha;
  if (const int port = find_op(node)->port(PortRole::bias); port >= 0)
    if (const auto bias = static_cast<size_t>(port); view.has_input(bias))
      if (Status s = add(node.inputs[bias], beta); !s) return s;
  for (const Layer& merged : network.lowered.layers) {
    if (merged.merged_into != static_cast<int>(layer.layer) || merged.in_function) continue;
    const Node& n = graph.nodes[static_cast<size_t>(merged.node)];
    const OpRow* row = find_op(n);
    const bool residual = !std::ranges::any_of(
        n.inputs, [&](TensorId id) { return id != kNoTensor && graph.tensor(id).constant; });
    if (row && row->fusion == Fusion::bias && !residual) {
      const size_t port = graph.tensor(n.inputs[0]).constant ? 0 : 1;
      if (Status s = add(n.inputs[port], 1); !s) return s;
    }
    if (!row || row->fusion != Fusion::affine) continue;
    std::vector<std::vector<double>> p;
    for (const PortRole role :
         {PortRole::gain, PortRole::shift, PortRole::mean, PortRole::variance}) {
      Result<ref::Array> array = constants(n.inputs[static_cast<size_t>(row->port(role))]);
      if (!array) return array.errors();
      p.push_back(array->reals());
    }
    const double epsilon = NodeView(graph, n).attr("epsilon", 1e-5);
    for (size_t c = 0; c < r.bias.size(); ++c) {
      const double factor = p[0][c] / std::sqrt(p[3][c] + epsilon);
      scale_channel(r, op, static_cast<int64_t>(c), factor);
      r.bias[c] += p[1][c] - p[2][c] * factor;
    }
  }
  return ok();
}

/// Makes an affine function of the results a matter of weights and biases.
Status fold_affine(const Graph& graph, const Layer& layer, const LayerOperands& given,
                   RealWeights& r) {
  const Result<AffineFunction> f =
      affine_function(graph, layer.function, given.constants, kMostCode * given.scales.argument);
  if (!f) return f.errors();
  // Weights with a scale of their own are quantised after that; the others have theirs.
  if (given.scales.b == 0 || f->factor == 0)
    for (double& w : r.w) w *= f->factor;
  else
    r.factor = f->factor;
  for (double& b : r.bias) b = b * f->factor + f->offset;
  return ok();
}

/// Element of the node's output that the machine's element `at` is: NHWC of a convolution.
int64_t element_of(const Node& node, const GemmOp& op, int64_t at) {
  if (!is_conv(node)) return at;
  const int64_t pixels = op.out[0] * op.out[1] * op.out[2], channels = op.batch * op.outputs;
  return (at / (pixels * channels) * channels + at % channels) * pixels + at / channels % pixels;
}

/// What is added to the output, in its order in memory.
std::vector<int8_t> quantise_residual(const Node& node, const GemmOp& op, const ref::Array& r,
                                      double scale) {
  const std::vector<double> from = r.reals();
  std::vector<int8_t> out(from.size());
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = quantised(from[static_cast<size_t>(element_of(node, op, static_cast<int64_t>(i)))],
                       scale, 127);
  return out;
}

/// A residual's factor as multiplier / 2^shift, the multiplier of 16 bits with its sign.
hw::Residual residual_factor(double factor) {
  constexpr int kBits = 15, kMostShift = 31;
  hw::Residual r;
  int exponent = 0;
  std::frexp(factor, &exponent);  // factor < 2^exponent
  r.shift = std::clamp(kBits - exponent, 0, kMostShift);
  r.multiplier = static_cast<int32_t>(
      std::min(std::nearbyint(std::ldexp(factor, r.shift)), double{INT16_MAX}));
  return r;
}

ref::Array dequantised(const Node& node, const GemmOp& op, const Tensor& shape,
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
    if (l.fate != Fate::gemm || l.work.size() != 1 || mappings.size() != 1 || !mappings[0]->gemm)
      continue;
    const Node& node = graph.nodes[static_cast<size_t>(l.node)];
    const bool known = node.domain.empty() && layout_of(node) != WeightLayout::unknown;
    const GemmOp& op = mappings[0]->gemm->problem.op;
    const auto floats = [&](TensorId id) { return is_float(graph.tensor(id).dtype); };
    if (!known || !floats(node.inputs[0]) || !floats(node.inputs[1]) ||
        !plain_batches(graph, node, op) ||
        elements(graph.tensor(node.inputs[0]).dims) != logical_a(op) ||
        elements(graph.tensor(node.inputs[1]).dims) != logical_weights(op))
      continue;
    QuantisedLayer q{i, l.node, l.node, *mappings[0]->gemm};
    if (l.residual >= 0) q.residual = l.inputs[static_cast<size_t>(l.residual)];
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
  RealWeights real = ordered_weights(graph, node, op, given.b);
  if (Status s = fold_constants(graph, network, layer, op, given.constants, real); !s)
    return s.errors();
  const Layer& lowered = network.lowered.layers[layer.layer];
  LayerScales scales = given.scales;
  if (layer.source.problem.table) {
    auto table =
        function_table(graph, lowered.function, given.constants, scales.argument, scales.out);
    if (!table) return table.errors();
    operands.table = std::move(*table);
    scales.out = scales.argument;
  } else if (!lowered.function.empty()) {
    if (Status s = fold_affine(graph, lowered, given, real); !s) return s.errors();
  }
  if (layer.source.problem.b_bits == 4)
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
    problem.add = residual_factor(given.scales.residual / given.scales.out);
  }
  const hw::Program program = emit(problem, hw, layer.source.tiling);
  hw::MemoryImage image = pack(problem, hw, layer.source.tiling, operands);
  if (Status s = hw::run_golden(program, hw, image); !s) return s.errors();
  const Tensor& shape = graph.tensor(lowered.outputs[0]);
  return dequantised(node, op, shape, unpack_output(image), given.scales.out);
}

}  // namespace accsim::sim
