#include "sim/lower/resize_products.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "sim/lower/nearest.h"
#include "sim/operators/fold.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"
#include "sim/operators/pool/pool_rules.h"
#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

/// A dim that a matrix makes another one of: [in][out], row by row.
struct DimProduct {
  size_t dim = 0;
  int64_t in = 0, out = 0;
  std::vector<double> matrix;
};

/// Weights of the elements from floor(place) - 1 on, of four, by distance; linear ones of two.
/// Cubic ones are Keys' (1981): continuous first derivatives, a their slope at 1.
std::vector<double> interpolation_weights(double distance, bool cubic, double a) {
  if (!cubic) return {0, 1 - distance, distance, 0};
  const auto near = [a](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [a](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  return {far(distance + 1), near(distance), near(1 - distance), far(2 - distance)};
}

std::optional<DimProduct> interpolation(const NodeView& node, size_t dim, bool cubic) {
  const int64_t in = node.dims(0)[dim], out = node.output(0).dims[dim];
  const std::string mode = chooses_places(node)
                               ? node.attr("coordinate_transformation_mode", "half_pixel")
                               : std::string("asymmetric");
  // Of a single output runtimes take places that differ; lines alone don't show it.
  if (cubic && out == 1 && mode == "pytorch_half_pixel") return std::nullopt;
  DimProduct p{dim, in, out, std::vector<double>(static_cast<size_t>(in * out), 0)};
  for (int64_t o = 0; o < out; ++o) {
    const auto place = input_place(mode, o, in, out);
    if (!place || mode == "tf_half_pixel_for_nn") return std::nullopt;
    const double left = std::floor(*place);
    const std::vector<double> weights =
        interpolation_weights(*place - left, cubic, node.attr("cubic_coeff_a", -0.75));
    for (int64_t i = 0; i < 4; ++i) {
      const int64_t from = std::clamp(static_cast<int64_t>(left) + i - 1, int64_t{0}, in - 1);
      p.matrix[static_cast<size_t>(from * out + o)] += weights[static_cast<size_t>(i)];
    }
  }
  return p;
}

constexpr int64_t kMostWeights = int64_t{1} << 16;  ///< of a matrix

/// Ones where an output is an element of the dim.
std::optional<DimProduct> nearest(const NodeView& node, size_t dim) {
  const auto elements = nearest_elements(node, dim);
  if (!elements) return std::nullopt;
  const int64_t in = node.dims(0)[dim], out = std::ssize(*elements);
  DimProduct p{dim, in, out, std::vector<double>(static_cast<size_t>(in * out), 0)};
  for (int64_t o = 0; o < out; ++o)
    p.matrix[static_cast<size_t>((*elements)[static_cast<size_t>(o)] * out + o)] = 1;
  return p;
}

/// Of all dims that change; empty where it isn't such a node.
std::vector<DimProduct> interpolations(const NodeView& node) {
  const std::string mode = node.attr("mode", "nearest");
  const bool cubic = mode == "cubic" || mode == "bicubic";
  const bool linear = mode == "linear" || mode == "bilinear";
  const bool picks = mode == "nearest";
  if (elements(node.dims(0)) == 0 || elements(node.output(0).dims) == 0) return {};
  if ((!cubic && !linear && !picks) || !has_own_scales(node) || (picks && is_made_of_moves(node)))
    return {};
  if (!picks &&
      (node.attr("antialias", int64_t{0}) != 0 || node.attr("exclude_outside", int64_t{0}) != 0))
    return {};
  std::vector<DimProduct> out;
  for (size_t d = node.dims(0).size(); d-- > 0;) {
    const int64_t from = node.dims(0)[d], to = node.output(0).dims[d];
    if (from == to) continue;
    if (from * to > kMostWeights) return {};
    auto p = picks ? nearest(node, d) : interpolation(node, d, cubic);
    if (!p) return {};
    out.push_back(std::move(*p));
  }
  return out;
}

/// Output o sums up the inputs before it and, unless `exclusive`, itself; `reverse`: behind it.
std::vector<DimProduct> cumulative_sum(const NodeView& node) {
  const ConstData* axis = node.value(1);
  if (!axis || axis->size() != 1) return {};
  const int64_t rank = node.rank(0);
  const auto stated = static_cast<int64_t>(axis->as_double(0));
  const auto dim = static_cast<size_t>(stated < 0 ? stated + rank : stated);
  const int64_t n = node.dims(0)[dim];
  if (n * n > kMostWeights) return {};
  const bool exclusive = node.attr("exclusive", int64_t{0}) != 0;
  const bool reverse = node.attr("reverse", int64_t{0}) != 0;
  DimProduct p{dim, n, n, std::vector<double>(static_cast<size_t>(n * n), 0)};
  for (int64_t i = 0; i < n; ++i)
    for (int64_t o = 0; o < n; ++o)
      p.matrix[static_cast<size_t>(i * n + o)] =
          (i == o && !exclusive) || (reverse ? i > o : i < o) ? 1 : 0;
  return {std::move(p)};
}

/// The dim last and back.
std::vector<int64_t> dim_last(size_t rank, size_t dim) {
  std::vector<int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[dim], perm[rank - 1]);
  return perm;
}

void add_products(RebuiltGraph& g, const Node& node, const std::vector<DimProduct>& all) {
  TensorId x = node.inputs[0];
  for (size_t i = 0; i < all.size(); ++i) {
    const DimProduct& p = all[i];
    const std::string part = node.name + "/dim_" + std::to_string(p.dim);
    const size_t rank = g.dims(x).size();
    const bool turns = p.dim + 1 != rank, last = i + 1 == all.size() && !turns;
    if (turns) x = transposed(g, x, dim_last(rank, p.dim), part + "_last");
    const TensorId matrix = g.add_constant(part + "_weights", g.tensor(node.inputs[0]).dtype,
                                           {p.in, p.out}, ConstData(p.matrix));
    Node product = g.new_operator(op::kMatMul, kPlainOpset, {});
    product.written_as = node.op_type;
    Dims to = g.dims(x);
    to.back() = p.out;
    const TensorId sums =
        last ? node.outputs[0] : g.add_tensor(g.tensor(x), part + "_output", std::move(to));
    g.add_node(product, last ? node.name : part, {x, matrix}, {sums});
    x = sums;
    if (!turns) continue;
    x = i + 1 < all.size() ? transposed(g, x, dim_last(rank, p.dim), part + "_back") : x;
    if (i + 1 < all.size()) continue;
    g.add_node(g.new_operator(op::kTranspose, kPlainOpset, {{"perm", "", dim_last(rank, p.dim)}}),
               node.name, {x}, {node.outputs[0]});
  }
}

}  // namespace

void plan_resize_products(NodeRewrites& rewrites) {
  for (const Node& node : rewrites.graph().nodes) {
    if (node.folded || !node.domain.empty() || node.outputs.size() != 1) continue;
    const NodeView view(rewrites.graph(), node);
    std::vector<DimProduct> all;
    if (node.op_type == op::kCumSum)
      all = cumulative_sum(view);
    else if (node.op_type == op::kResize || node.op_type == op::kUpsample)
      all = interpolations(view);
    if (all.empty() || !is_float(view.dtype(0))) continue;
    rewrites.replace_nodes({rewrites.id_of(node)},
                           [&node, all](RebuiltGraph& g) { add_products(g, node, all); });
  }
}

}  // namespace accsim::sim
