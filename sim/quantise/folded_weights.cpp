#include "sim/quantise/folded_weights.h"

#include <algorithm>
#include <cmath>

#include "sim/lower/functions.h"
#include "sim/operators/node_view.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {

WeightLayout weights_lie(const Node& node) {
  const OpRow* row = find_op(node);
  return row ? row->weights : WeightLayout::unknown;
}

bool is_convolution(const Node& node) {
  const WeightLayout lie = weights_lie(node);
  return lie == WeightLayout::oihw || lie == WeightLayout::gain;
}

bool is_turned(const Graph& graph, const Node& node, const char* attribute) {
  return weights_lie(node) == WeightLayout::kn_or_nk &&
         NodeView(graph, node).attr(attribute, int64_t{0}) != 0;
}

namespace {

const Node& node_of(const LayerProduct& p) {
  return p.graph.nodes[static_cast<size_t>(p.lowered.layers[p.layer].node)];
}

RealWeights ordered_weights(const LayerProduct& p, const ref::Array& b) {
  const Node& node = node_of(p);
  const GemmOp& op = p.op;
  const std::vector<double> from = b.reals();
  const int64_t taps = op.k() / op.channels, n = op.outputs, c = op.channels;
  const bool turned = is_turned(p.graph, node, "transB");
  RealWeights out{std::vector<double>(from.size()), {}};
  out.bias.assign(static_cast<size_t>(op.grouped || op.batch == 1 ? op.batch * n : n), 0);
  for (size_t i = 0; i < from.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t o = at % n, tap = at / (n * c) % taps, g = at / (n * c * taps);
    int64_t channel = at / n % c;
    if (!p.row_order.empty()) channel = p.row_order[static_cast<size_t>(channel)];
    int64_t source = (g * c + channel) * n + o;  // K x N, batch by batch
    if (is_convolution(node))
      source = ((g * n + o) * c + channel) * taps + tap;
    else if (turned)
      source = o * c + channel;
    out.w[i] = from[static_cast<size_t>(source)];
  }
  return out;
}

/// Multiplies output channel o of the weights (and its bias) by factor.
void scale_channel(RealWeights& r, const GemmOp& op, int64_t channel, double factor) {
  r.bias[static_cast<size_t>(channel)] *= factor;
  const int64_t each = op.k() * op.outputs, o = channel % op.outputs;
  const int64_t from = op.grouped ? channel / op.outputs * each : 0;
  const int64_t end = op.grouped ? from + each : std::ssize(r.w);
  for (int64_t i = from + o; i < end; i += op.outputs) r.w[static_cast<size_t>(i)] *= factor;
}

/// Adds a constant to the biases: one for each, or one for all.
Status add_bias(const Constants& constants, TensorId id, double factor, RealWeights& r) {
  const Result<ref::Array> array = constants(id);
  if (!array) return array.errors();
  const std::vector<double> bias = array->reals();
  for (size_t i = 0; i < r.bias.size() && !bias.empty(); ++i)
    r.bias[i] += factor * bias[bias.size() == 1 ? 0 : i % bias.size()];
  return ok();
}

/// Gain, shift, mean and variance of each channel.
Status fold_gain(const LayerProduct& p, const Node& n, const OpRow& row, const Constants& constants,
                 RealWeights& r) {
  std::vector<std::vector<double>> of;
  for (const PortRole role :
       {PortRole::gain, PortRole::shift, PortRole::mean, PortRole::variance}) {
    const Result<ref::Array> array = constants(n.inputs[static_cast<size_t>(row.port_of(role))]);
    if (!array) return array.errors();
    of.push_back(array->reals());
  }
  const double epsilon = NodeView(p.graph, n).attr("epsilon", 1e-5);
  for (size_t c = 0; c < r.bias.size(); ++c) {
    const double factor = of[0][c] / std::sqrt(of[3][c] + epsilon);
    scale_channel(r, p.op, static_cast<int64_t>(c), factor);
    r.bias[c] += of[1][c] - of[2][c] * factor;
  }
  return ok();
}

/// A sum, difference, product or quotient of the results and a constant: one for each channel.
Status fold_channels(const LayerProduct& p, const Node& n, const OpRow& row,
                     const Constants& constants, RealWeights& r) {
  const bool behind = !p.graph.tensor(n.inputs[0]).constant;
  const TensorId id = n.inputs[behind ? 1 : 0];
  if (row.algebra == Algebra::add) return add_bias(constants, id, 1, r);
  const Result<ref::Array> array = constants(id);
  if (!array) return array.errors();
  const std::vector<double> by = array->reals();
  for (size_t c = 0; c < r.bias.size() && !by.empty(); ++c) {
    const double with = by[by.size() == 1 ? 0 : c % by.size()];
    const bool divides = row.algebra == Algebra::divide;
    const bool turns = row.algebra == Algebra::subtract && !behind;
    const double factor = row.algebra == Algebra::multiply ? with : divides ? 1 / with : 1;
    scale_channel(r, p.op, static_cast<int64_t>(c), turns ? -1 : factor);
  }
  return row.algebra == Algebra::subtract ? add_bias(constants, id, behind ? -1 : 1, r) : ok();
}

/// What has been merged into the layer.
Status fold_merged(const LayerProduct& p, const Constants& constants, RealWeights& r) {
  const auto constant = [&](TensorId id) { return id != kNoTensor && p.graph.tensor(id).constant; };
  for (const Layer& merged : p.lowered.layers) {
    if (merged.merged_into != static_cast<int>(p.layer) || merged.in_function) continue;
    const Node& n = p.graph.nodes[static_cast<size_t>(merged.node)];
    const OpRow* row = find_op(n);
    Status folded = ok();
    if (row && is_arithmetic(n) && std::ranges::any_of(n.inputs, constant))
      folded = fold_channels(p, n, *row, constants, r);
    if (row && row->fusion == Fusion::affine) folded = fold_gain(p, n, *row, constants, r);
    if (!folded) return folded;
  }
  return ok();
}

/// Integers have no infinite weight and nothing for what isn't a number. An infinite bias is one
/// that saturates.
Status check_representable(const RealWeights& r) {
  const auto finite = [](double v) { return std::isfinite(v); };
  const auto not_a_number = [](double v) { return std::isnan(v); };
  if (std::isfinite(r.factor) && std::ranges::all_of(r.w, finite) &&
      std::ranges::none_of(r.bias, not_a_number))
    return ok();
  return Error{Errc::invalid,
               "a weight or bias, with what is folded into it (BatchNorm, factors), is NaN or "
               "infinite, which int8 can't represent; mend the file's constants, or run in float",
               ""};
}

}  // namespace

Result<RealWeights> folded_weights(const LayerProduct& product, const ref::Array& b,
                                   const Constants& constants) {
  const Node& node = node_of(product);
  const NodeView view(product.graph, node);
  RealWeights r = ordered_weights(product, b);
  // Gemm's factors; other products don't have these attributes.
  const double alpha = view.attr("alpha", 1.0), beta = view.attr("beta", 1.0);
  // Of an operand that is computed the codes stay as they are: every sum has the factor.
  if (!product.graph.tensor(node.inputs[1]).constant)
    r.factor = alpha;
  else if (alpha != 1)
    for (double& w : r.w) w *= alpha;
  if (r.factor == 0)
    return Error{Errc::unsupported, "the product of two computed operands has the factor 0", ""};
  const int port = find_op(node)->port_of(PortRole::bias);
  if (port >= 0 && view.has_input(static_cast<size_t>(port)))
    if (Status s = add_bias(constants, node.inputs[static_cast<size_t>(port)], beta, r); !s)
      return s.errors();
  if (weights_lie(node) == WeightLayout::gain) {
    std::ranges::fill(r.w, 1.0);  // the gain is one of what is folded
    if (Status s = fold_gain(product, node, *find_op(node), constants, r); !s) return s.errors();
  }
  if (Status s = fold_merged(product, constants, r); !s) return s.errors();
  if (Status s = check_representable(r); !s) return s.errors();
  return r;
}

Status fold_affine(const Graph& graph, const Layer& layer, const Constants& constants, double reach,
                   bool quantised, RealWeights& weights) {
  const Result<AffineFunction> f = affine_function(graph, layer.function, constants, reach);
  if (!f) return f.errors();
  if (quantised && f->factor != 0)
    weights.factor *= f->factor;
  else
    for (double& w : weights.w) w *= f->factor;
  for (double& b : weights.bias) b = b * f->factor + f->offset;
  return check_representable(weights);
}

}  // namespace accsim::sim
