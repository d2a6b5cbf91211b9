#include "sim/lower/node_layouts.h"

#include <algorithm>
#include <set>

#include "sim/operators/op_table.h"
#include "sim/operators/reduction/reduction_rules.h"
#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

class LayoutConstraints {
 public:
  LayoutConstraints(const Graph& graph, const Layer& layer, const std::vector<Layout>& layouts,
                    const std::function<bool(TensorId)>& movable)
      : graph_(graph),
        layer_(layer),
        layouts_(layouts),
        movable_(movable),
        node_(graph, graph.nodes[static_cast<size_t>(layer.node)]),
        ports_(ports_read(layer)) {
    std::erase_if(ports_, [&](ValuePort p) { return graph.tensor(tensor_at(p)).constant; });
    for (const TensorId out : layer.outputs)
      out_.outs.push_back(out == kNoTensor ? Layout{} : row_major_layout(dims(out)));
  }

  NodeLayouts layouts_by_rule(LayoutRule lie) {
    if (layer_.rows)
      spelled_rows();
    else
      by_operator(ports_.empty() ? LayoutRule::row_major : lie);
    for (const ValuePort p : ports_)
      if (std::ranges::find(out_.wants, p, &NodeLayouts::Want::port) == out_.wants.end())
        want_layout(p, row_major_layout(dims(tensor_at(p))));
    return std::move(out_);
  }

 private:
  void by_operator(LayoutRule lie) {
    switch (lie) {
      case LayoutRule::row_major:
        break;
      case LayoutRule::channels_last:
      case LayoutRule::image:
        if (int_attr(node_, "channels_last", 0) == 0 && !lay_planes())
          lay_pixels(lie == LayoutRule::image);
        break;
      case LayoutRule::alike:
        lay_alike();
        break;
      case LayoutRule::by_axes:
        by_axes();
        break;
      case LayoutRule::reduced:
        lay_reduced();
        break;
      case LayoutRule::picked:
        lay_picked();
        break;
      case LayoutRule::along_axis:
      case LayoutRule::from_axis:
      case LayoutRule::softmax:
        lay_rows(lie);
        break;
      case LayoutRule::product:
        lay_product();
        break;
    }
  }

  TensorId tensor_at(ValuePort port) const { return layer_.inputs[port.index()]; }
  const Dims& dims(TensorId t) const { return graph_.tensor(t).dims; }
  const Dims& out_dims() const { return dims(layer_.outputs[0]); }
  const Layout& layout_at(ValuePort port) const {
    return layouts_[static_cast<size_t>(tensor_at(port))];
  }
  void want_layout(ValuePort port, Layout layout) {
    out_.wants.push_back({port, std::move(layout)});
  }
  bool no_result() const { return layer_.outputs.empty() || layer_.outputs[0] == kNoTensor; }

  const GemmOp* gemm() const { return std::get_if<GemmOp>(&layer_.work.front()); }

  void lay_pixels(bool only_first) {
    if (no_result() || lay_pointwise()) return;
    const size_t rank = dims(tensor_at(ports_[0])).size();
    if (rank >= 3) out_.order = channels_last_order(rank);
    for (const ValuePort p : ports_) {
      const bool weights = gemm() && (p == gemm()->b_port || p == gemm()->bias_port);
      if (!weights && (!only_first || p == ports_[0]))
        want_layout(p, channels_last_layout(dims(tensor_at(p))));
    }
    for (size_t i = 0; i < out_.outs.size(); ++i)
      if (layer_.outputs[i] != kNoTensor)
        out_.outs[i] = channels_last_layout(dims(layer_.outputs[i]));
  }

  /// Rows that are all pixels of a channel, or of a group of them, lie plane by plane where a
  /// command of rows does them, if that makes longer runs than the group's channels of a pixel: a
  /// beat takes elements of a run.
  bool lay_planes() {
    const OpRow* row = find_op(node_.node());
    if (!row || !row->rows || no_result() || layer_.outputs != node_.node().outputs) return false;
    const auto meaning = row->rows(node_);
    const Dims& d = out_dims();
    if (!meaning || d.size() < 3 || dims(tensor_at(ports_[0])) != d) return false;
    int64_t channels = 1;
    bool keeps_channels = false;
    for (const RowAxis& a : meaning->axes) {
      if (a.channel && a.reduced) channels *= a.count;
      keeps_channels = keeps_channels || (a.channel && !a.reduced && a.count > 1);
    }
    if (!keeps_channels || elements(d, 2, d.size()) <= channels) return false;
    std::vector<size_t> pixel_dims;
    for (size_t dim = 2; dim < d.size(); ++dim) pixel_dims.push_back(dim);
    rows_of(pixel_dims);
    return !out_.wants.empty();
  }

  /// A convolution that makes of each pixel one takes them in any order.
  bool lay_pointwise() {
    const GemmOp* g = gemm();
    constexpr Extent3 kOne{1, 1, 1};
    if (!g || layer_.work.size() != 1 || g->kernel != kOne || g->stride != kOne || g->in != g->out)
      return false;
    const Dims &from = dims(tensor_at(g->a_port)), &to = out_dims();
    if (from.size() < 3 || from.size() != to.size()) return false;
    Dims as_out = from;
    as_out[1] = to[1];
    const size_t channels[] = {1};
    if (as_out != to ||
        with_innermost(layout_at(g->a_port), from, channels) != layout_at(g->a_port))
      return false;
    std::vector<DimPiece> pieces = *pieces_of(layout_at(g->a_port), from);
    std::erase_if(pieces, [](const DimPiece& p) { return p.dim == 1; });
    pieces.push_back({1, 1, to[1]});
    want_layout(g->a_port, layout_at(g->a_port));
    out_.outs[0] = layout_of(pieces, to);
    return true;
  }

  /// The first input of the result's dims, if there is one that has its layout for good.
  ValuePort leading_port() const {
    ValuePort found = ValuePort::none();
    for (const ValuePort p : ports_) {
      if (dims(tensor_at(p)) != out_dims()) continue;
      if (!movable_(tensor_at(p))) return p;
      if (found.is_none()) found = p;
    }
    return found;
  }

  void lay_alike() {
    if (no_result()) return;
    const ValuePort first = leading_port();
    if (first.is_none()) return;
    std::vector<NodeLayouts::Want> wants;
    for (const ValuePort p : ports_) {
      auto its = broadcast_layout(layout_at(first), out_dims(), dims(tensor_at(p)));
      if (!its) return;
      wants.push_back({p, std::move(*its)});
    }
    out_.wants = std::move(wants);
    for (size_t i = 0; i < out_.outs.size(); ++i)
      if (layer_.outputs[i] != kNoTensor && dims(layer_.outputs[i]) == out_dims())
        out_.outs[i] = layout_at(first);
  }

  /// Wants the port in an order of its dims: the one that it is in, or the nearest.
  DimOrder want_nearest_order(ValuePort port) {
    const Dims& d = dims(tensor_at(port));
    out_.order = nearest_order(layout_at(port), d);
    want_layout(port, layout_in_order(d, out_.order));
    return out_.order;
  }

  void by_axes() {
    if (no_result()) return;
    const size_t rank = out_dims().size();
    ValuePort largest = ValuePort::none();
    for (const ValuePort p : ports_)
      if (dims(tensor_at(p)).size() == rank &&
          (largest.is_none() || elements(dims(tensor_at(p))) > elements(dims(tensor_at(largest)))))
        largest = p;
    if (largest.is_none()) return;
    const DimOrder order = want_nearest_order(largest);
    for (const ValuePort p : ports_)
      if (p != largest && dims(tensor_at(p)).size() == rank)
        want_layout(p, layout_in_order(dims(tensor_at(p)), order));
    lay_results(order);
  }

  void lay_results(const DimOrder& order) {
    for (size_t i = 0; i < out_.outs.size(); ++i)
      if (layer_.outputs[i] != kNoTensor && dims(layer_.outputs[i]).size() == order.size())
        out_.outs[i] = layout_in_order(dims(layer_.outputs[i]), order);
  }

  void lay_reduced() {
    const DimOrder order = want_nearest_order(ports_[0]);
    if (no_result() || out_dims().size() == order.size()) return lay_results(order);
    std::vector<int64_t> gone;
    if (node_.has_attr("axes") || !find_op(node_.node())->has_attribute("axis")) {
      if (const auto axes = reduced_axes(node_)) gone = *axes;
    } else if (const auto axis = axis_attr(node_, 0, node_.rank(0))) {
      gone.push_back(*axis);
    }
    DimOrder kept;
    for (const size_t d : order) {
      const auto at = static_cast<int64_t>(d);
      if (std::ranges::find(gone, at) != gone.end()) continue;
      kept.push_back(
          d - static_cast<size_t>(std::ranges::count_if(gone, [&](int64_t g) { return g < at; })));
    }
    lay_results(kept);
  }

  void lay_picked() {
    const auto axis = axis_attr(node_, 0, node_.rank(0));
    if (!axis || ports_[0] != 0 || no_result()) return;
    const auto at = static_cast<size_t>(*axis);
    const size_t indices = dims(tensor_at(1)).size();
    DimOrder order;
    for (const size_t d : want_nearest_order(0))
      if (d != at)
        order.push_back(d < at ? d : d - 1 + indices);
      else
        for (size_t i = 0; i < indices; ++i) order.push_back(at + i);
    lay_results(order);
  }

  void lay_rows(LayoutRule lie) {
    const bool flat = lie == LayoutRule::softmax && node_.opset() < 13;
    const Dims& d = dims(tensor_at(ports_[0]));
    const auto axis = axis_attr(node_, flat ? 1 : -1, static_cast<int64_t>(d.size()));
    if (!axis || no_result() || out_dims() != d) return;
    std::vector<size_t> inner{static_cast<size_t>(*axis)};
    if (flat || lie == LayoutRule::from_axis)
      while (inner.back() + 1 < d.size()) inner.push_back(inner.back() + 1);
    rows_of(inner);
  }

  /// Rows of these dims of the first port, one behind the other.
  void rows_of(std::span<const size_t> inner) {
    const auto rows = with_innermost(layout_at(ports_[0]), dims(tensor_at(ports_[0])), inner);
    if (!rows) return;
    want_layout(ports_[0], *rows);
    out_.outs[0] = *rows;
  }

  /// What nodes spell out: pixel by pixel where the channels are dim 1, else row by row.
  void spelled_rows() {
    const RowMeaning& rows = *layer_.rows;
    if (ports_.empty() || ports_[0] != rows.in_port || no_result()) return;
    if (rows.channel_axes > 0) return lay_pixels(true);
    if (rows.log_port) {  // logarithms lie as their dims say, and so have their rows to
      want_layout(ports_[0], row_major_layout(dims(tensor_at(ports_[0]))));
      return;
    }
    std::vector<size_t> inner;
    for (size_t d = 0; d < rows.axes.size(); ++d)
      if (rows.axes[d].reduced) inner.push_back(d);
    rows_of(inner);
  }

  void lay_product() {
    if (!gemm() || no_result()) return;
    ProductLayouts p = product_layouts(graph_, layer_, *gemm(), layouts_);
    out_.is_product = true;
    out_.a_transposed = p.a_transposed;
    out_.b_transposed = p.b_transposed;
    for (const ValuePort port : ports_)
      if (port == gemm()->a_port)
        want_layout(port, p.a);
      else if (port == gemm()->b_port)
        want_layout(port, p.b);
    out_.outs[0] = std::move(p.out);
  }

  const Graph& graph_;
  const Layer& layer_;
  const std::vector<Layout>& layouts_;
  const std::function<bool(TensorId)>& movable_;
  const NodeView node_;
  std::vector<ValuePort> ports_;
  NodeLayouts out_;
};

}  // namespace

std::vector<ValuePort> ports_read(const Layer& layer) {
  std::set<ValuePort> ports;
  const auto add = [&](const std::vector<Access>& side) {
    for (const Access& a : side) ports.insert(a.port);
  };
  for (const WorkItem& item : layer.work) {
    if (const auto* gemm = std::get_if<GemmOp>(&item))
      ports.insert({gemm->a_port, gemm->b_port, gemm->bias_port});
    else if (const auto* vector = std::get_if<VectorOp>(&item))
      add(vector->inputs);
    else
      add(std::get<MemoryOp>(item).inputs);
  }
  std::erase_if(ports, [&](ValuePort p) {
    return !p.is_within(layer.inputs.size()) || layer.inputs[p.index()] == kNoTensor;
  });
  return {ports.begin(), ports.end()};
}

NodeLayouts node_layouts(const Graph& graph, const Layer& layer, const std::vector<Layout>& layouts,
                         const std::function<bool(TensorId)>& movable) {
  const OpRow* row = find_op(graph.nodes[static_cast<size_t>(layer.node)]);
  LayoutRule lie = row ? row->layout_rule() : LayoutRule::row_major;
  // Work on elements that is a product of channels after all.
  if (lie == LayoutRule::alike && !layer.work.empty() &&
      std::holds_alternative<GemmOp>(layer.work[0]))
    lie = LayoutRule::channels_last;
  return LayoutConstraints(graph, layer, layouts, movable).layouts_by_rule(lie);
}

}  // namespace accsim::sim
