#include <algorithm>

#include "sim/quantise/folded_weights.h"
#include "sim/quantise/part_constants.h"

namespace accsim::sim {
namespace {

constexpr double kMostArgument = 127;  ///< of int8 values, symmetrically

/// Of element i of a row of A, as rows lie in memory, its place by the dims; nullopt where that
/// isn't made of pieces of the dim.
std::optional<std::vector<int64_t>> row_order(const Dims& dims, const Layout& lies, size_t k) {
  const auto pieces = pieces_of(lies, dims);
  if (!pieces) return std::nullopt;
  std::vector<int64_t> out{0};
  for (const DimPiece& p : *pieces) {
    if (p.dim != k) continue;
    std::vector<int64_t> longer;
    for (const int64_t from : out)
      for (int64_t i = 0; i < p.count; ++i) longer.push_back(from + i * p.step);
    out = std::move(longer);
  }
  return out;
}

/// Do the dims of two factors of a MatMul that only one of them has lie as a GemmOp takes them?
/// Those of A alone become rows, so no dim of B may lie inside them; A has all dims that B has, or
/// none.
bool broadcasts_in_order(const Dims& a, const Dims& b) {
  const size_t rank = std::max(a.size(), b.size());
  const auto dim = [&](const Dims& of, size_t i) {
    return i + of.size() >= rank ? of[i + of.size() - rank] : 1;
  };
  bool rows = false, with = false, without = false;
  for (size_t i = 0; i + 2 < rank; ++i) {
    if (dim(b, i) == 1) {
      rows = rows || dim(a, i) > 1;
      continue;
    }
    if (rows) return false;
    (dim(a, i) > 1 ? with : without) = true;
  }
  return !with || !without;
}

class ProductConstants : public PartConstants {
 public:
  using PartConstants::PartConstants;

  Result<PartNumbers> part_numbers() {
    const GemmOp& op = problem().op;
    if (const char* why = unknown_of(op)) return unknown_error(why);
    const TensorId a = tensor_read(op.a_port), out = tensor_written();
    scales_.a = scale_of(a).scale;
    scales_.out = scale_of(out).scale;
    problem().a_zero = scale_of(a).zero;
    problem().epilogue.zero = scale_of(out).zero;
    Result<RealWeights> weights = fold_weights(op);
    if (!weights) return weights.errors();
    if (Status s = add_function(*weights); !s) return s.errors();
    if (problem().residual) add_residual();
    if (problem().b_encoding.is_packed())
      quantise_narrow(*weights, problem(), scales_, out_.operands);
    else
      quantise_weights(*weights, op, scales_, out_.operands);
    take_zero_point(op);
    fill_constants();
    return std::move(out_);
  }

 private:
  GemmProblem& problem() { return source_of_.problem; }
  const Tensor& weight_tensor() const { return tensor(layer_.inputs[1]); }

  /// Why its numbers aren't known; nullptr: they are.
  const char* unknown_of(const GemmOp& op) const {
    const auto products = std::ranges::count_if(
        layer_.work, [](const WorkItem& w) { return std::holds_alternative<GemmOp>(w); });
    if (products != 1 || weights_lie(node_) == WeightLayout::unknown ||
        input_of(layer_, op.a_port) != 0 || input_of(layer_, op.b_port) != 1)
      return "a product whose operands aren't those of its node";
    const Tensor& a = tensor(layer_.inputs[0]);
    if (a.constant) return "a product whose first operand is constant";
    if (!is_float(a.dtype) || (!is_float(weight_tensor().dtype) && !weight_tensor().quantisation))
      return "a product of integers without a scale";
    // A computed kernel lies as the file has it, not as the products of rows read it.
    if (is_convolution(node_) && !weight_tensor().constant)
      return "a convolution whose kernel is computed";
    if (!is_convolution(node_) && !broadcasts_in_order(a.dims, weight_tensor().dims))
      return "a product whose batch dims belong to one operand each";
    if (weight_tensor().constant && elements(weight_tensor().dims) != logical_weights(op))
      return "a product of other weights than the node's";
    return nullptr;
  }

  Result<RealWeights> fold_weights(const GemmOp& op) {
    LayerProduct product{source_.graph, source_.network.lowered, part_.layer, op};
    if (!weight_tensor().constant) {  // the biases alone
      scales_.b = scale_of(layer_.inputs[1]).scale;
      ref::Array none(DType::float32, {logical_weights(op)});
      std::fill_n(none.data<float>(), none.size(), 0.0F);
      return folded_weights(product, none, source_.constants);
    }
    const Dims& dims = tensor(layer_.inputs[0]).dims;
    if (!is_convolution(node_) && dims.size() > 1) {
      const size_t k = dims.size() - (is_turned(source_.graph, node_, "transA") ? 2 : 1);
      const LayerLayouts lies(source_.graph, source_.network.lowered, layer_);
      auto order = row_order(dims, lies.input_layout(0), k);
      if (!order) return unknown_error("a product of rows in an order of their own");
      product.row_order = std::move(*order);
    }
    const Result<ref::Array> b = source_.constants(layer_.inputs[1]);
    if (!b) return b.errors();
    return folded_weights(product, *b, source_.constants);
  }

  Status add_function(RealWeights& weights) {
    const UnaryFunction& f = layer_.function;
    if (f.empty()) return ok();
    if (!problem().epilogue.table) {
      const double seen = source_.calibration.tensor_range(f.of).largest_magnitude();
      return fold_affine(source_.graph, layer_, source_.constants, seen > 0 ? seen : kMostArgument,
                         scales_.b > 0, weights);
    }
    auto table = function_table(source_.graph, f, source_.constants, scale_of(f.of),
                                scale_of(tensor_written()));
    if (!table) return table.errors();
    out_.operands.table = std::move(*table);
    scales_.out = scale_of(f.of).scale;
    problem().epilogue.zero = scale_of(f.of).zero;
    return ok();
  }

  void add_residual() {
    const hw::ElementScale& added = scale_of(layer_.inputs[layer_.residual.index()]);
    problem().epilogue.residual = residual_factor(added.scale / scale_of(tensor_written()).scale);
    problem().epilogue.residual->zero = added.zero;
    const GemmOp& op = problem().op;
    out_.operands.residual.resize(static_cast<size_t>(op.batch * op.m() * op.outputs));
  }

  /// The sums are of codes: what the zero point adds to them is taken off the biases.
  void take_zero_point(const GemmOp& op) {
    std::vector<GemmOperands::Channel>& channels = out_.operands.channels;
    const auto all = static_cast<size_t>(problem().pixel_outputs());
    if (channels.size() != all)
      channels.resize(all, channels.empty() ? GemmOperands::Channel{} : channels.front());
    if (problem().a_zero == 0) return;
    const std::vector<int8_t>& w = out_.operands.weights;
    const int64_t each = op.k() * op.outputs;
    for (size_t c = 0; c < all; ++c) {
      const auto channel = static_cast<int64_t>(c);
      const int64_t first = op.grouped ? channel / op.outputs * each : 0;
      int64_t sum = 0;
      for (int64_t i = first + channel % op.outputs; i < first + each; i += op.outputs)
        sum += w[static_cast<size_t>(i)];
      channels[c].bias = static_cast<int32_t>(channels[c].bias - sum * problem().a_zero);
    }
  }

  void fill_constants() {
    out_.operands.a.resize(static_cast<size_t>(logical_a(problem().op)));
    const hw::MemoryImage image =
        pack_operands(problem(), source_.hw, source_of_.tiling, out_.operands);
    for (size_t i = 0; i < image.size(); ++i)
      if (part_.constant[i]) out_.constants[i] = image[i];
  }

  GemmSource& source_of_ = std::get<GemmSource>(out_.source);
  LayerScales scales_;
};

}  // namespace

Result<PartNumbers> kind_constants(const GemmSource&, const ConstantsSource& source,
                                   const NetworkPart& part) {
  return ProductConstants(source, part).part_numbers();
}

}  // namespace accsim::sim
