#include "sim/lower/lane_meaning.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "sim/lower/lane_gather.h"
#include "sim/lower/lane_geometry.h"
#include "sim/lower/layer_layouts.h"
#include "sim/operators/fold.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

using Meaning = std::optional<LaneWork>;

/// What a table can have entries for, or give, too: a byte that is 0 or 1.
bool is_truth(DType t) { return t == DType::boolean; }

/// A function of the elements of a tensor: where results and arguments lie alike, of all of them.
Meaning lane_function(LaneWork work, const Dims& dims, const Layout& in, const Layout& out) {
  if (in != out) return std::nullopt;
  return lane_axes(std::move(work), {LaneDim::of_strides(elements(dims), 1, 1)});
}

class LaneReading {
 public:
  LaneReading(const NodeView& node, const OpRow& row, const LaneLayouts& layouts)
      : node_(node), row_(row), layouts_(layouts) {}

  Meaning find_meaning() const {
    if (gathers(row_.lane)) return gather_lanes(node_, row_, layouts_.inputs[0], layouts_.output);
    const Meaning of_one = layouts_.turned ? std::nullopt : function_meaning();
    if (of_one || row_.algebra == Algebra::select) return of_one ? of_one : fill_meaning();
    return is_arithmetic() ? arithmetic_of_two() : std::nullopt;
  }

 private:
  const Dims& dims() const { return node_.output(0).dims; }
  bool is_arithmetic() const { return row_.arithmetic != LaneArithmetic::copy; }
  /// Is it a constant, all of one value?
  bool has_one_value(size_t port) const {
    if (!node_.input(port).constant) return false;
    const ConstData* value = node_.value(port);
    if (!value || value->size() == 0) return elements(node_.dims(port)) == 1;
    for (size_t i = 1; i < value->size(); ++i)
      if (!(value->as_double(i) == value->as_double(0))) return false;
    return true;
  }

  /// A function of one tensor's elements, with constants.
  Meaning function_meaning() const {
    const bool asks = row_.algebra == Algebra::convert && is_truth(node_.dtype(0));
    if ((row_.kind != OpKind::elementwise && !asks) || !row_.in_place || row_.random)
      return std::nullopt;
    LaneWork work;
    work.a_port = ValuePort::none();
    bool constants = false, again = false;
    for (size_t i = 0; i < node_.input_count(); ++i) {
      if (!node_.has_input(i)) continue;
      if (has_one_value(i)) {
        constants = true;
      } else if (!work.a_port.is_of_node()) {
        work.a_port = static_cast<int>(i);
      } else if (node_.node().inputs[i] != node_.node().inputs[work.a_port.index()]) {
        return std::nullopt;
      } else {
        again = true;
      }
    }
    if (!work.a_port.is_of_node() || node_.dims(work.a_port.index()) != dims()) return std::nullopt;
    const bool reciprocal = row_.lane == LaneRule::div && work.a_port != 0;
    const bool linear = is_arithmetic() && constants && !again && !reciprocal;
    // A multiplier, a zero point or limits; a table else.
    work.table = !linear && row_.fusion != Fusion::clip;
    return lane_function(work, dims(), layouts_.inputs[work.a_port.index()], layouts_.output);
  }

  /// Strides of an operand along the pieces of the result's dims, as they lie; nullopt where the
  /// operand isn't evenly spaced along one.
  std::optional<Strides> along_result(size_t port, std::span<const DimPiece> pieces) const {
    const Dims& own = node_.dims(port);
    const size_t missing = dims().size() - own.size();
    const Strides index = row_major(own);
    const bool constant = node_.input(port).constant;
    Strides out(pieces.size(), 0);
    int64_t laid = 1;  // of a constant, which is laid out as the result is
    for (size_t i = pieces.size(); i-- > 0;) {
      const auto [dim, step, count] = pieces[i];
      if (dim < missing || own[dim - missing] == 1) continue;
      const auto pitch = pitch_of({count, step * index[dim - missing]}, layouts_.inputs[port]);
      if (!constant && !pitch) return std::nullopt;
      out[i] = constant ? laid : *pitch;
      laid *= count;
    }
    return out;
  }

  Meaning arithmetic_of_two() const {
    if (node_.input_count() != 2 || !node_.has_input(0) || !node_.has_input(1)) return std::nullopt;
    if (row_.lane == LaneRule::div && !node_.input(1).constant) return std::nullopt;
    const bool second = layouts_.turned && layouts_.turned->port == 1;
    return of_two(row_.arithmetic, second ? 1 : 0, second ? 0 : 1);
  }

  /// The pieces cut so that the two that change places are one of them; which one that is, or
  /// nullopt where they don't lie so.
  std::optional<size_t> cut_at_turn(std::vector<DimPiece>& pieces) const {
    const int64_t turn = layouts_.turned->piece;
    const Strides index = row_major(dims());
    for (size_t i = 0; i < pieces.size(); ++i) {
      const auto [dim, step, count] = pieces[i];
      const int64_t from = step * index[dim], all = from * count;
      if (all <= turn || from > turn) continue;
      if (turn % from != 0 || all % (2 * turn) != 0) return std::nullopt;
      const int64_t at = turn / index[dim];
      pieces[i] = {dim, 2 * at, all / (2 * turn)};
      const auto behind = pieces.begin() + static_cast<ptrdiff_t>(i) + 1;
      pieces.insert(behind, {DimPiece{dim, at, 2}, DimPiece{dim, step, turn / from}});
      return i + 1;
    }
    return std::nullopt;
  }

  /// Elements as they are, or an infinity, which is beyond all codes: a sum with what the condition
  /// is, times more than there are codes.
  Meaning fill_meaning() const {
    for (const size_t port : {size_t{1}, size_t{2}}) {
      const ConstData* with = node_.value(port);
      if (!with || with->size() != 1 || !(std::abs(with->as_double(0)) >= kAsInfinity)) continue;
      return of_two(LaneArithmetic::add, 3 - static_cast<int>(port), 0);
    }
    return std::nullopt;
  }

  Meaning of_two(LaneArithmetic op, ValuePort a_port, ValuePort b_port) const {
    LaneWork work;
    work.op = op;
    work.a_port = a_port;
    work.b_port = b_port;
    auto pieces = pieces_of(layouts_.output, dims());
    if (!pieces) return std::nullopt;
    const auto turned = layouts_.turned ? cut_at_turn(*pieces) : std::nullopt;
    if (layouts_.turned && !turned) return std::nullopt;
    const auto a = along_result(a_port.index(), *pieces);
    const auto b = along_result(b_port.index(), *pieces);
    if (!a || !b) return std::nullopt;
    std::vector<LaneDim> all;
    int64_t out = 1;
    for (size_t i = pieces->size(); i-- > 0; out *= (*pieces)[i].count)
      all.push_back(turned == i ? LaneDim::of_turned(out, (*a)[i], (*b)[i])
                                : LaneDim::of_strides((*pieces)[i].count, out, (*a)[i], (*b)[i]));
    return lane_axes(work, all);
  }

  const NodeView& node_;
  const OpRow& row_;
  const LaneLayouts& layouts_;
};

/// Of a tensor without elements nothing lies anywhere.
bool is_empty(const NodeView& node) {
  for (size_t i = 0; i < node.input_count(); ++i)
    if (node.has_input(i) && elements(node.dims(i)) == 0) return true;
  return elements(node.output(0).dims) == 0;
}

}  // namespace

Meaning lane_work(const NodeView& node, const LaneLayouts& layouts) {
  const OpRow* row = find_op(node.node());
  if (!row || !node.has_input(0) || !node.has_output(0)) return std::nullopt;
  for (size_t i = 1; i < node.output_count(); ++i)
    if (node.has_output(i) && row->lane != LaneRule::pool_max) return std::nullopt;
  if (is_empty(node)) return std::nullopt;
  Meaning work = LaneReading(node, *row, layouts).find_meaning();
  if (!work) return work;
  const auto fits = [&](DType t, bool truth) { return is_element(t) || (truth && is_truth(t)); };
  if (!fits(node.output(0).dtype, work->table)) return std::nullopt;
  const bool conditional = work->table || row->algebra == Algebra::select;
  for (const ValuePort port : {work->a_port, work->b_port})
    if (port.is_of_node() && !fits(node.dtype(port.index()), conditional)) return std::nullopt;
  return work;
}

int64_t elements_read(const LaneWork& work) {
  int64_t read = work.across;
  for (const LaneAxis& x : work.axes) {
    if (x.a == 0) continue;
    if (x.slide.is_plain() || (x.count == 1 && x.slide.is_whole_axis())) {
      read *= x.slide.extent;
      continue;
    }
    std::vector<bool> seen(static_cast<size_t>(x.slide.extent), false);
    for (int64_t o = 0; o < x.count; ++o) {
      const LaneSlide::Taps taps = x.slide.taps_inside(o);
      for (int64_t k = taps.first; k < taps.first + taps.count; ++k)
        seen[static_cast<size_t>(x.slide.input_coordinate(o, k))] = true;
    }
    read *= std::ranges::count(seen, true);
  }
  return read;
}

namespace {

/// Of a layer that is a function, whatever its nodes: a table, or a factor and a sum.
Meaning lane_layer(const Graph& graph, const Layer& l, const LayerLayouts& lies) {
  const Tensor &in = graph.tensor(l.inputs[0]), &out = graph.tensor(l.outputs[0]);
  if (!is_element(in.dtype) || !is_element(out.dtype) || in.dims != out.dims) return std::nullopt;
  LaneWork work;
  work.table = !l.function.affine;
  return lane_function(work, out.dims, lies.input_layout(0), lies.output_layout(0));
}

LaneLayouts lane_layouts(const Layer& l, const LayerLayouts& lies) {
  LaneLayouts out{{}, lies.output_layout(0), l.turned};
  for (size_t i = 0; i < l.inputs.size(); ++i)
    out.inputs.push_back(l.inputs[i] == kNoTensor ? Layout{}
                                                  : lies.input_layout(static_cast<int>(i)));
  return out;
}

/// The meaning of a layer that is its node, or a function.
Meaning lane_meaning(const Graph& graph, const Layer& l, const LayerLayouts& lies) {
  if (!l.function.empty()) return lane_layer(graph, l, lies);
  const Node& node = graph.nodes[static_cast<size_t>(l.node)];
  // A layer of other inputs isn't its node alone any more.
  std::vector<TensorId> inputs = node.inputs;
  if (l.turned) {
    const auto port = l.turned->port.index();
    inputs[port] = l.inputs[port];
  }
  if (l.inputs != inputs || l.outputs.empty() || l.outputs[0] == kNoTensor) return std::nullopt;
  Meaning work = lane_work(NodeView(graph, node), lane_layouts(l, lies));
  if (!work) return work;
  work->a_port = lies.read_from(work->a_port);
  if (work->has_b()) work->b_port = lies.read_from(work->b_port);
  return work;
}

}  // namespace

void add_lane_meanings(const Graph& graph, Lowered& lowered) {
  for (Layer& l : lowered.layers) {
    // The copies of its operands come before its own work.
    const auto moves = std::ranges::count_if(
        l.work, [](const WorkItem& item) { return std::holds_alternative<MemoryOp>(item); });
    // Where maxima are is found behind them, without commands.
    const OpRow* row = find_op(graph.nodes[static_cast<size_t>(l.node)]);
    const bool finds = row && row->lane == LaneRule::pool_max && std::ssize(l.work) == moves + 2;
    if (std::ssize(l.work) != moves + (finds ? 2 : 1)) continue;
    auto* op = std::get_if<VectorOp>(&l.work[static_cast<size_t>(moves)]);
    if (op && !op->lane) op->lane = lane_meaning(graph, l, LayerLayouts(graph, lowered, l));
  }
}

}  // namespace accsim::sim
