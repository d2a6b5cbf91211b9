#include "sim/lower/node_layouts.h"

#include <algorithm>
#include <set>

#include "sim/lower/operand_wants.h"
#include "sim/lower/pixel_layouts.h"
#include "sim/operators/op_table.h"
#include "sim/operators/reduction/reduction_rules.h"
#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

/// The first input of the result's dims, if there is one that has its layout for good.
ValuePort leading_port(OperandWants& o) {
  ValuePort found = ValuePort::none();
  for (const ValuePort p : o.ports()) {
    if (o.dims(o.tensor_at(p)) != o.out_dims()) continue;
    if (!o.is_movable(o.tensor_at(p))) return p;
    if (found.is_none()) found = p;
  }
  return found;
}

void lay_alike(OperandWants& o) {
  if (!o.has_result()) return;
  const ValuePort first = leading_port(o);
  if (first.is_none()) return;
  std::vector<NodeLayouts::Want> wants;
  for (const ValuePort p : o.ports()) {
    auto its = broadcast_layout(o.layout_at(first), o.out_dims(), o.dims(o.tensor_at(p)));
    if (!its) return;
    wants.push_back({p, std::move(*its)});
  }
  o.found().wants = std::move(wants);
  for (size_t i = 0; i < o.found().outs.size(); ++i)
    if (o.layer().outputs[i] != kNoTensor && o.dims(o.layer().outputs[i]) == o.out_dims())
      o.found().outs[i] = o.layout_at(first);
}

/// Wants the port in an order of its dims: the one that it is in, or the nearest.
DimOrder want_nearest_order(OperandWants& o, ValuePort port) {
  const Dims& d = o.dims(o.tensor_at(port));
  o.found().order = nearest_order(o.layout_at(port), d);
  o.want_layout(port, layout_in_order(d, o.found().order));
  return o.found().order;
}

void lay_results(OperandWants& o, const DimOrder& order) {
  for (size_t i = 0; i < o.found().outs.size(); ++i)
    if (o.layer().outputs[i] != kNoTensor && o.dims(o.layer().outputs[i]).size() == order.size())
      o.found().outs[i] = layout_in_order(o.dims(o.layer().outputs[i]), order);
}

void by_axes(OperandWants& o) {
  if (!o.has_result()) return;
  const size_t rank = o.out_dims().size();
  ValuePort largest = ValuePort::none();
  for (const ValuePort p : o.ports())
    if (o.dims(o.tensor_at(p)).size() == rank &&
        (largest.is_none() ||
         elements(o.dims(o.tensor_at(p))) > elements(o.dims(o.tensor_at(largest)))))
      largest = p;
  if (largest.is_none()) return;
  const DimOrder order = want_nearest_order(o, largest);
  for (const ValuePort p : o.ports())
    if (p != largest && o.dims(o.tensor_at(p)).size() == rank)
      o.want_layout(p, layout_in_order(o.dims(o.tensor_at(p)), order));
  lay_results(o, order);
}

void lay_reduced(OperandWants& o) {
  const DimOrder order = want_nearest_order(o, o.ports()[0]);
  if (!o.has_result() || o.out_dims().size() == order.size()) return lay_results(o, order);
  std::vector<int64_t> gone;
  if (o.node().has_attr("axes") || !find_op(o.node().node())->has_attribute("axis")) {
    if (const auto axes = reduced_axes(o.node())) gone = *axes;
  } else if (const auto axis = axis_attr(o.node(), 0, o.node().rank(0))) {
    gone.push_back(*axis);
  }
  DimOrder kept;
  for (const size_t d : order) {
    const auto at = static_cast<int64_t>(d);
    if (std::ranges::find(gone, at) != gone.end()) continue;
    kept.push_back(
        d - static_cast<size_t>(std::ranges::count_if(gone, [&](int64_t g) { return g < at; })));
  }
  lay_results(o, kept);
}

void lay_picked(OperandWants& o) {
  const auto axis = axis_attr(o.node(), 0, o.node().rank(0));
  if (!axis || o.ports()[0] != 0 || !o.has_result()) return;
  const auto at = static_cast<size_t>(*axis);
  const size_t indices = o.dims(o.tensor_at(1)).size();
  DimOrder order;
  for (const size_t d : want_nearest_order(o, 0))
    if (d != at)
      order.push_back(d < at ? d : d - 1 + indices);
    else
      for (size_t i = 0; i < indices; ++i) order.push_back(at + i);
  lay_results(o, order);
}

void lay_rows(OperandWants& o, LayoutRule lie) {
  const bool flat = lie == LayoutRule::softmax && o.node().opset() < 13;
  const Dims& d = o.dims(o.tensor_at(o.ports()[0]));
  const auto axis = axis_attr(o.node(), flat ? 1 : -1, static_cast<int64_t>(d.size()));
  if (!axis || !o.has_result() || o.out_dims() != d) return;
  std::vector<size_t> inner{static_cast<size_t>(*axis)};
  if (flat || lie == LayoutRule::from_axis)
    while (inner.back() + 1 < d.size()) inner.push_back(inner.back() + 1);
  o.want_rows(inner);
}

/// What nodes spell out: pixel by pixel where the channels are dim 1, else row by row.
void spelled_rows(OperandWants& o) {
  const RowMeaning& rows = *o.layer().rows;
  if (o.ports().empty() || o.ports()[0] != rows.in_port || !o.has_result()) return;
  if (rows.channel_axes > 0) return lay_pixels(o, true);
  if (rows.log_port) {  // logarithms lie as their dims say, and so have their rows to
    o.want_layout(o.ports()[0], row_major_layout(o.dims(o.tensor_at(o.ports()[0]))));
    return;
  }
  std::vector<size_t> inner;
  for (size_t d = 0; d < rows.axes.size(); ++d)
    if (rows.axes[d].reduced) inner.push_back(d);
  o.want_rows(inner);
}

void lay_product(OperandWants& o) {
  if (!o.gemm() || !o.has_result()) return;
  ProductLayouts p = product_layouts(o.graph(), o.layer(), *o.gemm(), o.layouts());
  o.found().is_product = true;
  o.found().a_transposed = p.a_transposed;
  o.found().b_transposed = p.b_transposed;
  for (const ValuePort port : o.ports())
    if (port == o.gemm()->a_port)
      o.want_layout(port, p.a);
    else if (port == o.gemm()->b_port)
      o.want_layout(port, p.b);
  o.found().outs[0] = std::move(p.out);
}

void by_operator(OperandWants& o, LayoutRule lie) {
  switch (lie) {
    case LayoutRule::row_major:
      break;
    case LayoutRule::channels_last:
    case LayoutRule::image:
      if (int_attr(o.node(), "channels_last", 0) == 0 && !lay_planes(o))
        lay_pixels(o, lie == LayoutRule::image);
      break;
    case LayoutRule::alike:
      lay_alike(o);
      break;
    case LayoutRule::by_axes:
      by_axes(o);
      break;
    case LayoutRule::reduced:
      lay_reduced(o);
      break;
    case LayoutRule::picked:
      lay_picked(o);
      break;
    case LayoutRule::along_axis:
    case LayoutRule::from_axis:
    case LayoutRule::softmax:
      lay_rows(o, lie);
      break;
    case LayoutRule::product:
      lay_product(o);
      break;
  }
}

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
  OperandWants o(graph, layer, layouts, movable);
  if (layer.rows)
    spelled_rows(o);
  else
    by_operator(o, o.ports().empty() ? LayoutRule::row_major : lie);
  for (const ValuePort p : o.ports())
    if (std::ranges::find(o.found().wants, p, &NodeLayouts::Want::port) == o.found().wants.end())
      o.want_layout(p, row_major_layout(o.dims(o.tensor_at(p))));
  return std::move(o.found());
}

}  // namespace accsim::sim
