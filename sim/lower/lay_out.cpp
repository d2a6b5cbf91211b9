#include "sim/lower/lay_out.h"

#include <algorithm>

#include "sim/lower/cache_updates.h"
#include "sim/lower/carriers.h"
#include "sim/lower/host_layout.h"
#include "sim/lower/node_layouts.h"
#include "sim/operators/movement/box_rules.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

class LayOut {
 public:
  LayOut(const Graph& graph, Lowered& lowered)
      : graph_(graph),
        lowered_(lowered),
        layouts_(lowered.layouts),
        ends_(graph, lowered),
        carriers_(graph, lowered, ends_),
        taken_(graph.tensors.size(), false) {
    for (const Tensor& t : graph.tensors) layouts_.push_back(row_major_layout(t.dims));
    for (const TensorId id : graph.inputs)
      if (ends_.is_input(id)) layout(id) = host_layout(graph, lowered.readers, id);
  }

  void lay_out_all() {
    for (Layer& l : lowered_.layers) {
      if (l.fate == Fate::folded || turn_into_view(l)) continue;
      if (ends_.is_given_so(l)) {
        l.work.clear();
        l.fate = Fate::view;
      }
      if (const auto update = update_in_place(graph_, l, ends_, layouts_))
        lay_out_update(l, *update);
      else if (l.work.empty())
        lay_out_view(l);
      else
        lay_out(l);
    }
  }

 private:
  Layout& layout(TensorId id) { return layouts_[static_cast<size_t>(id)]; }
  const Dims& dims(TensorId id) const { return graph_.tensor(id).dims; }
  const Node& node(const Layer& l) const { return graph_.nodes[static_cast<size_t>(l.node)]; }
  void mark_taken(TensorId id) { taken_[static_cast<size_t>(id)] = true; }

  // ---- views ------------------------------------------------------------------------------------

  /// The same bytes in the same order, whatever the dims.
  void lay_out_view(const Layer& l) {
    if (l.inputs.empty() || l.inputs[0] == kNoTensor) return;
    for (const TensorId id : l.outputs)
      if (id != kNoTensor && elements(dims(id)) == elements(dims(l.inputs[0])))
        layout(id) = layout(l.inputs[0]);
    mark_taken(l.inputs[0]);
  }

  /// A transpose becomes a view where the output's dims can tell how the input lies.
  bool turn_into_view(Layer& l) {
    if (!is_turn(graph_, l) || l.work.empty() || l.outputs[0] == kNoTensor) return false;
    const auto perm = permutation_of(NodeView(graph_, node(l)));
    if (!perm) return false;
    const auto turned = transposed_layout(layout(l.inputs[0]), dims(l.inputs[0]), *perm);
    if (!turned || ends_.hands_over(l, *turned)) return false;
    l.work.clear();
    l.fate = Fate::view;
    layout(l.outputs[0]) = *turned;
    mark_taken(l.inputs[0]);
    return true;
  }

  Layer* moving_view(TensorId id) {
    return taken_[static_cast<size_t>(id)] ? nullptr : carriers_.moving_view(id);
  }

  void turn_into_copy(Layer& view, TensorId id, const Layout& to) {
    const TensorId out = view.outputs[0];
    const Layout from = layout(out);
    for (TensorId at = id; at != out; at = carriers_.carrier_of(at).from) layout(at) = to;
    layout(out) = to;
    view.work = layout_copy(from, to, elements(dims(id)), {});
    view.fate = Fate::memory;
  }

  /// A cache that is given and given back, and what replaces some of it: all stays as it lies.
  void lay_out_update(Layer& l, const Work& update) {
    l.work = update;
    if (l.work.empty()) l.fate = Fate::view;
    layout(l.outputs[0]) = layout(l.inputs[0]);
    for (const TensorId id : l.inputs)
      if (id != kNoTensor) mark_taken(id);
  }

  // ---- work -------------------------------------------------------------------------------------

  void lay_out(Layer& l) {
    copy_before_cuts(l);
    const NodeLayouts n =
        node_layouts(graph_, l, layouts_, [&](TensorId id) { return moving_view(id) != nullptr; });
    recount_work(l, n.order);
    if (auto* gemm = std::get_if<GemmOp>(&l.work.front()); gemm && n.is_product) {
      gemm->a_transposed = n.a_transposed;
      gemm->b_transposed = n.b_transposed;
    }
    Work copies;
    for (const auto& [port, wanted] : n.wants)
      if (!settle_layout(l.inputs[port.index()], wanted)) {
        append_work(copies, copy_work(l, port, wanted));
        redirect_port(l, port);
        l.copies.push_back({port, wanted});
      }
    for (size_t i = 0; i < l.outputs.size(); ++i)
      if (l.outputs[i] != kNoTensor) layout(l.outputs[i]) = n.outs[i];
    if (l.residual.is_of_node()) add_residual(l, copies);
    l.work.insert(l.work.begin(), copies.begin(), copies.end());
  }

  /// What is cut into boxes that overlap (keys of blocks of queries) would be copied box by box
  /// where their readers want it in another order: it is copied as a whole before.
  void copy_before_cuts(const Layer& l) {
    const TensorId id = l.inputs.empty() ? kNoTensor : l.inputs[0];
    if (id == kNoTensor || !is_cut(l)) return;
    int64_t sum = 0;
    for (const NodeId reader : lowered_.readers[static_cast<size_t>(id)]) {
      const Layer& cut = lowered_.layers[static_cast<size_t>(reader)];
      if (!is_cut(cut) || cut.inputs[0] != id) return;
      sum += elements(dims(cut.outputs[0]));
    }
    const Layout wanted = row_major_layout(dims(id));
    if (sum <= elements(dims(id)) || layout(id) == wanted) return;
    if (Layer* view = moving_view(id)) turn_into_copy(*view, id, wanted);
  }
  /// Does the layer cut one box out of its operand?
  bool is_cut(const Layer& l) const {
    const OpRow* row = find_op(node(l));
    return row && row->layout_rule() == LayoutRule::by_axes && l.fate == Fate::memory &&
           l.outputs.size() == 1 && !l.inputs.empty() && l.inputs[0] != kNoTensor &&
           elements(dims(l.outputs[0])) < elements(dims(l.inputs[0])) &&
           !graph_.tensor(l.inputs[0]).constant;
  }

  /// Moves are in other pieces when their operands lie in another order.
  void recount_work(Layer& l, const DimOrder& order) {
    const auto moves = [](const WorkItem& item) { return std::holds_alternative<MemoryOp>(item); };
    if (std::ranges::is_sorted(order) || !std::ranges::all_of(l.work, moves)) return;
    auto work = find_op(node(l))->cost(NodeView(graph_, node(l), order));
    if (work && !work->empty() && std::ranges::all_of(*work, moves)) l.work = std::move(*work);
  }

  /// Has the tensor lie so, unless that takes a copy of the reader's own.
  bool settle_layout(TensorId id, const Layout& wanted) {
    const bool as_is = layout(id) == wanted;
    if (!as_is && ends_.is_input(id) && !taken_[static_cast<size_t>(id)]) {
      layout(id) = wanted;  // the host lays it out for its first reader
    } else if (!as_is) {
      Layer* view = moving_view(id);
      if (!view) return false;
      turn_into_copy(*view, id, wanted);
    }
    mark_taken(id);
    return true;
  }

  Work copy_work(const Layer& l, ValuePort port, const Layout& to) {
    const TensorId id = l.inputs[port.index()];
    mark_taken(id);
    return layout_copy(layout(id), to, elements(dims(id)),
                       {port, step_port(port), copy_port(port)});
  }
  static void append_work(Work& to, const Work& items) {
    to.insert(to.end(), items.begin(), items.end());
  }

  /// The work reads the copy instead of the input.
  static void redirect_port(Layer& l, ValuePort port) {
    const auto change = [&](ValuePort& p) {
      if (p == port) p = copy_port(port);
    };
    const auto accesses = [&](std::vector<Access>& side) {
      for (Access& a : side) change(a.port);
    };
    for (WorkItem& item : l.work) {
      if (auto* gemm = std::get_if<GemmOp>(&item)) {
        change(gemm->a_port);
        change(gemm->b_port);
      } else if (auto* vector = std::get_if<VectorOp>(&item)) {
        accesses(vector->inputs);
      } else {
        accesses(std::get<MemoryOp>(item).inputs);
      }
    }
  }

  /// What the post unit adds lies like the output.
  void add_residual(Layer& l, Work& copies) {
    const Layout& wanted = layout(l.outputs[0]);
    const TensorId id = l.inputs[l.residual.index()];
    if (settle_layout(id, wanted)) return;
    append_work(copies, copy_work(l, l.residual, wanted));
    l.copies.push_back({l.residual, wanted});
  }

  const Graph& graph_;
  Lowered& lowered_;
  std::vector<Layout>& layouts_;
  const NetworkEnds ends_;
  Carriers carriers_;
  std::vector<bool> taken_;  ///< by tensor: somebody reads it as it lies
};

}  // namespace

void lay_out(const Graph& graph, Lowered& lowered) { LayOut(graph, lowered).lay_out_all(); }

}  // namespace accsim::sim
