#include "sim/quantise/tensor_scales.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "sim/map/residency.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

/// Tensors whose codes are the same, each with what its values are in the group's.
class Groups {
 public:
  explicit Groups(size_t tensors) : parent_(tensors), factor_(tensors, 1) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
  }
  struct Member {
    size_t root;
    double factor;  ///< values are the root's times this
  };
  Member find(TensorId id) const {
    Member m{static_cast<size_t>(id), 1};
    for (; parent_[m.root] != m.root; m.root = parent_[m.root]) m.factor *= factor_[m.root];
    return m;
  }
  /// The codes of `b` are those of `a`, its values `factor` times those.
  void join_tensors(TensorId a, TensorId b, double factor) {
    const Member of_a = find(a), of_b = find(b);
    if (of_a.root == of_b.root) return;
    parent_[of_b.root] = of_a.root;
    factor_[of_b.root] = of_a.factor * factor / of_b.factor;
  }

 private:
  std::vector<size_t> parent_;
  std::vector<double> factor_;
};

class Planner {
 public:
  Planner(const Graph& graph, const CostedNetwork& network, const hw::HwConfig& hw,
          const Calibration& calibration, const Constants& constants)
      : graph_(graph),
        lowered_(network.lowered),
        network_(network),
        hw_(hw),
        calibration_(calibration),
        constants_(constants),
        groups_(graph.tensors.size()),
        ranges_(graph.tensors.size()),
        symmetric_(graph.tensors.size(), false) {}

  Result<std::vector<hw::ElementScale>> plan_scales() {
    for (const Layer& l : lowered_.layers)
      if (l.merged_into < 0 && l.fate != Fate::folded)
        if (Status s = share_scales(l); !s) return s.errors();
    for (size_t t = 0; t < graph_.tensors.size(); ++t)
      widen_range(static_cast<TensorId>(t), calibration_.tensor_range(static_cast<TensorId>(t)));
    for (size_t i = 0; i < lowered_.layers.size(); ++i) ask_layer(i);
    for (const Layer& l : lowered_.layers) limit_mask(l);
    limit_logarithms();
    if (Status s = take_stated(); !s) return s.errors();
    std::vector<hw::ElementScale> out;
    for (size_t t = 0; t < graph_.tensors.size(); ++t) {
      const auto [root, factor] = groups_.find(static_cast<TensorId>(t));
      const auto stated = stated_.find(root);
      out.push_back(stated != stated_.end() ? stated->second
                                            : element_scale(ranges_[root], symmetric_[root]));
      out.back().scale *= factor;
      if (graph_.tensors[t].dtype == DType::boolean) out.back() = {1, 0};
    }
    return out;
  }

 private:
  bool is_value(TensorId id) const { return id != kNoTensor && is_float(graph_.tensor(id).dtype); }

  // ---- who shares -------------------------------------------------------------------------------

  Status share_scales(const Layer& l) {
    if (l.outputs.empty() || l.inputs.empty()) return ok();
    if (is_view(l, hw_) && !puts_together(l)) return share_view(l);
    if (l.fate == Fate::memory || l.fate == Fate::view) {
      share_all(l);
    } else if (const auto* op = std::get_if<VectorOp>(&l.work.back()); op && op->lane) {
      const LaneWork& w = *op->lane;
      const bool picks = w.gather == LaneGather::none || w.gather == LaneGather::min ||
                         w.gather == LaneGather::max;
      const OpRow* row = find_op(graph_.nodes[static_cast<size_t>(l.node)]);
      const bool moves = row && (row->lane == LaneRule::nearest || w.gather != LaneGather::none);
      if (l.function.empty() && moves && picks && !w.table && !w.has_b()) share_all(l);
      if (row && row->algebra == Algebra::select && w.has_b()) share_filled(l, w);
    }
    return ok();
  }

  /// Do its inputs lie where they belong in its output?
  bool puts_together(const Layer& l) const {
    const auto is_pitched = [&](TensorId id) {
      return id != kNoTensor && lowered_.sub_tensors[static_cast<size_t>(id)].whole != kNoTensor;
    };
    return l.work.empty() && l.function.empty() && std::ranges::count_if(l.inputs, is_pitched) > 1;
  }

  Status share_view(const Layer& l) {
    double factor = 1;
    if (!l.function.empty()) {
      const auto f = affine_function(graph_, l.function, constants_, 1);
      if (!f) return f.errors();
      factor = f->factor;
    }
    for (const TensorId id : l.outputs)
      if (is_value(id) && is_value(l.inputs[0])) groups_.join_tensors(l.inputs[0], id, factor);
    return ok();
  }

  /// What a condition leaves keeps its codes.
  void share_filled(const Layer& l, const LaneWork& w) {
    for (const ValuePort port : {w.a_port, w.b_port}) {
      const int input = input_of(l, port);
      const TensorId id = input < 0 ? kNoTensor : l.inputs[static_cast<size_t>(input)];
      if (is_value(id) && !graph_.tensor(id).constant) groups_.join_tensors(id, l.outputs[0], 1);
    }
  }

  void share_all(const Layer& l) {
    TensorId first = kNoTensor;
    for (const auto* ids : {&l.inputs, &l.outputs})
      for (const TensorId id : *ids) {
        if (!is_value(id)) continue;
        if (first == kNoTensor)
          first = id;
        else
          groups_.join_tensors(first, id, 1);
      }
  }

  // ---- what is asked of a scale -----------------------------------------------------------------

  void widen_range(TensorId id, const ValueRange& range) {
    const auto [root, factor] = groups_.find(id);
    ranges_[root].widen_to({range.low / factor, range.high / factor});
  }
  void make_symmetric(TensorId id) { symmetric_[groups_.find(id).root] = true; }

  void ask_layer(size_t i) {
    const Layer& l = lowered_.layers[i];
    if (l.merged_into >= 0) return;
    // What the product gives is within int8 before the residual is added.
    if (const TensorId own = addend_of(graph_, lowered_, i); is_value(own))
      widen_range(l.outputs[0], calibration_.tensor_range(own));
    // A clip behind that is at the zero point that the table's arguments have.
    if (l.clips_sum && !l.function.empty() && !l.function.affine) {
      make_symmetric(l.function.of);
      make_symmetric(l.outputs[0]);
    }
    for (const auto& m : network_.mappings[i])
      if (const auto* product = m->source_as<GemmSource>()) ask_product(l, product->problem);
  }

  void ask_product(const Layer& l, const GemmProblem& p) {
    const int a = input_of(l, p.op.a_port), b = input_of(l, p.op.b_port);
    const auto id = [&](int input) {
      return input < 0 ? kNoTensor : l.inputs[static_cast<size_t>(input)];
    };
    const bool computed = is_value(id(b)) && !graph_.tensor(id(b)).constant;
    if (computed) make_symmetric(id(b));
    const bool one_bias = p.op.batch > 1 && !p.op.grouped;  // of products with weights of their own
    if (is_value(id(a)) && (computed || one_bias || p.scale_count() > 1)) make_symmetric(id(a));
  }

  /// However low a mask is, what it takes away is gone.
  void limit_mask(const Layer& l) {
    const auto* op = l.work.empty() ? nullptr : std::get_if<VectorOp>(&l.work.back());
    if (!op || !op->row_work || !op->row_work->mask) return;
    const int mask = input_of(l, op->row_work->mask->port), x = input_of(l, op->row_work->in_port);
    if (mask < 0 || x < 0) return;
    const auto [root, factor] = groups_.find(l.inputs[static_cast<size_t>(mask)]);
    const double reach =
        mask_reach(calibration_.tensor_range(l.inputs[static_cast<size_t>(x)])) / factor;
    ranges_[root] = {std::max(ranges_[root].low, -reach), std::min(ranges_[root].high, reach)};
  }

  /// Of rows that a mask has taken away whole the logarithm of the sum is as far down as the mask.
  /// As far below the least of any other row as leaves nothing of it is enough, and needed.
  void limit_logarithms() {
    struct Rows {
      double least = std::numeric_limits<double>::infinity();
      int blocks = 0;
      bool masked = false;
    };
    std::map<size_t, Rows> roots;
    for (const Layer& l : lowered_.layers) {
      const auto* op = l.work.empty() ? nullptr : std::get_if<VectorOp>(&l.work.back());
      if (!op || !op->row_work || !op->row_work->log) continue;
      const int x = input_of(l, op->row_work->in_port);
      if (x < 0) continue;
      const TensorId id = l.outputs[op->row_work->log->port.index()];
      const auto [root, factor] = groups_.find(id);
      // No sum of what is left is less than its least score.
      const double scores = calibration_.tensor_range(l.inputs[static_cast<size_t>(x)]).low;
      Rows& rows = roots[root];
      rows.least =
          std::min(rows.least, std::max(calibration_.tensor_range(id).low, scores) / factor);
      rows.masked = rows.masked || op->row_work->mask;
      ++rows.blocks;
    }
    for (const auto& [root, rows] : roots) {
      if (!rows.masked) continue;
      // All blocks that are gone together have less than half a step of 1/256.
      ranges_[root].low = rows.least - std::log(512.0 * rows.blocks);
      ranges_[root].high = std::max(ranges_[root].high, rows.least);
    }
  }

  // ---- what the file states ---------------------------------------------------------------------

  /// Scales and zero points of the file, where all that share them can have them: the widest of a
  /// group's. Where zero points aren't taken the range that they make is what is kept.
  Status take_stated() {
    for (size_t t = 0; t < graph_.tensors.size(); ++t) {
      const Tensor& tensor = graph_.tensors[t];
      const auto id = static_cast<TensorId>(t);
      if (!tensor.quantisation || tensor.constant || !is_value(id)) continue;
      const auto scale = number_or(tensor.quantisation->scale, 1);
      const auto zero = number_or(tensor.quantisation->zero_point, 0);
      if (!scale || !zero) return (!scale ? scale : zero).errors();
      const auto [root, factor] = groups_.find(id);
      const TensorId from = tensor.quantisation->zero_point;
      if (from != kNoTensor && bits(graph_.tensor(from).dtype) != 8) continue;  // finer than int8
      const bool is_signed = from != kNoTensor && is_signed_integer(graph_.tensor(from).dtype);
      const hw::ElementScale found{*scale / factor,
                                   static_cast<int32_t>(*zero) + (is_signed ? 0 : kLowestCode)};
      if (!(found.scale > 0)) continue;
      if (symmetric_[root] && found.zero != 0) {
        ranges_[root] = {found.scale * (kLowestCode - found.zero),
                         found.scale * (kHighestCode - found.zero)};
        continue;
      }
      hw::ElementScale& known = stated_.try_emplace(root, found).first->second;
      if (known.scale < found.scale) known = found;
    }
    return ok();
  }

  Result<double> number_or(TensorId id, double fallback) const {
    if (id == kNoTensor) return fallback;
    const Result<ref::Array> array = constants_(id);
    if (!array) return array.errors();
    return array->size() == 1 ? array->reals()[0] : fallback;
  }

  const Graph& graph_;
  const Lowered& lowered_;
  const CostedNetwork& network_;
  const hw::HwConfig& hw_;
  const Calibration& calibration_;
  const Constants& constants_;
  Groups groups_;
  std::vector<ValueRange> ranges_;             ///< by root, in its values
  std::vector<bool> symmetric_;                ///< by root
  std::map<size_t, hw::ElementScale> stated_;  ///< by root, where the file has them
};

}  // namespace

hw::ElementScale element_scale(const ValueRange& range, bool symmetric) {
  const double span =
      symmetric ? 2 * range.largest_magnitude() * 255 / 254 : range.high - range.low;
  if (!(span > 0)) return {1, 0};
  const double scale = span / 255;
  if (symmetric) return {scale, 0};
  const double zero = std::nearbyint(kLowestCode - range.low / scale);
  return {scale, static_cast<int32_t>(std::clamp<double>(zero, kLowestCode, kHighestCode))};
}

int8_t code_of(double value, const hw::ElementScale& s) {
  const double code = std::nearbyint(value / s.scale) + s.zero;
  return std::isnan(code)
             ? int8_t{0}
             : static_cast<int8_t>(std::clamp<double>(code, kLowestCode, kHighestCode));
}

double mask_reach(const ValueRange& logits) {
  constexpr double kGone = 22.5;  // exp(-22.5) is less than any step of a softmax' result
  return logits.high - logits.low + kGone;
}

int input_of(const Layer& layer, ValuePort port) {
  if (port.is_of_node())
    return port.is_within(layer.inputs.size()) ? static_cast<int>(port.index()) : -1;
  for (const PortLayout& copy : layer.copies)
    if (copy_port(copy.port) == port) return static_cast<int>(copy.port.index());
  return -1;
}

TensorId addend_of(const Graph& graph, const Lowered& lowered, size_t layer) {
  const Layer& l = lowered.layers[layer];
  if (!l.residual.is_of_node()) return kNoTensor;
  const TensorId residual = l.inputs[l.residual.index()];
  for (const Layer& merged : lowered.layers) {
    if (merged.merged_into != static_cast<int>(layer) || merged.in_function) continue;
    const Node& n = graph.nodes[static_cast<size_t>(merged.node)];
    const OpRow* row = find_op(n);
    if (!row || row->fusion != Fusion::bias || n.inputs.size() != 2) continue;
    for (const size_t port : {size_t{0}, size_t{1}})
      if (n.inputs[port] == residual && !graph.tensor(n.inputs[1 - port]).constant)
        return n.inputs[1 - port];
  }
  return kNoTensor;
}

Result<TensorScales> TensorScales::make(const Graph& graph, const CostedNetwork& network,
                                        const hw::HwConfig& hw, const Calibration& calibration,
                                        const Constants& constants) {
  auto scales = Planner(graph, network, hw, calibration, constants).plan_scales();
  if (!scales) return scales.errors();
  TensorScales out;
  out.scales_ = std::move(*scales);
  return out;
}

}  // namespace accsim::sim
