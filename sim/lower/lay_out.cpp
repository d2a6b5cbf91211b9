#include "sim/lower/lay_out.h"

#include <algorithm>

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
        readers_(lowered.readers),
        is_input_(graph.tensors.size(), false),
        is_output_(graph.tensors.size(), false),
        taken_(graph.tensors.size(), false),
        behind_(graph.tensors.size(), kNoTensor) {
    for (const TensorId id : graph.outputs) is_output_[static_cast<size_t>(id)] = true;
    for (const Tensor& t : graph.tensors) layouts_.push_back(row_major_layout(t.dims));
    for (const TensorId id : graph.inputs)
      if (!graph.tensor(id).constant) {
        is_input_[static_cast<size_t>(id)] = true;
        layout(id) = host_layout(graph, readers_, id);
      }
  }

  void lay_out_all() {
    for (Layer& l : lowered_.layers) {
      if (l.fate == Fate::folded || turn_into_view(l)) continue;
      if (is_given_so(l)) {
        l.work.clear();
        l.fate = Fate::view;
      }
      if (l.work.empty())
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
  bool is_turn(const Layer& l) const {
    const OpRow* row = find_op(node(l));
    return row && row->fusion == Fusion::turn;
  }

  // ---- views
  // ---------------------------------------------------------------------------------------

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
    if (!is_turn(l) || l.work.empty() || l.outputs[0] == kNoTensor) return false;
    const auto perm = permutation_of(NodeView(graph_, node(l)));
    if (!perm) return false;
    const auto turned = transposed_layout(layout(l.inputs[0]), dims(l.inputs[0]), *perm);
    if (!turned || hands_over(l, *turned)) return false;
    l.work.clear();
    l.fate = Fate::view;
    layout(l.outputs[0]) = *turned;
    mark_taken(l.inputs[0]);
    return true;
  }

  /// Is a transpose all that lies between what the network is given and what it gives, and would
  /// it leave that as nobody lays a tensor of its dims out? Then it moves: else a network of one
  /// transpose would be free.
  bool hands_over(const Layer& l, const Layout& turned) const {
    const TensorId out = l.outputs[0];
    if (turned == row_major_layout(dims(out)) || turned == channels_last_layout(dims(out)))
      return false;
    TensorId from = l.inputs[0];
    for (int views = 0; views < kMostViews && !is_input_[static_cast<size_t>(from)]; ++views) {
      const NodeId producer = graph_.tensor(from).producer;
      if (producer == kNoNode) return false;
      const Layer& view = lowered_.layers[static_cast<size_t>(producer)];
      if (view.fate != Fate::view || !view.work.empty() || view.inputs.empty()) return false;
      from = view.inputs[0];
      if (from == kNoTensor) return false;
    }
    return is_input_[static_cast<size_t>(from)] && is_shown(out);
  }
  /// Is it a result of the network, or views of it that nobody else reads?
  bool is_shown(TensorId id) const {
    for (int views = 0; views < kMostViews; ++views) {
      if (is_output_[static_cast<size_t>(id)]) return true;
      const auto& readers = readers_[static_cast<size_t>(id)];
      if (readers.size() != 1) return false;
      const Node& view = graph_.nodes[static_cast<size_t>(readers[0])];
      const OpRow* row = find_op(view);
      if (!row || row->fate != Fate::view || view.outputs.empty() || view.outputs[0] == kNoTensor)
        return false;
      id = view.outputs[0];
    }
    return false;
  }

  /// Integers that the network is given and has converted to floats, with nobody else to read them,
  /// directly or as views: it is given them as all floats are, in the machine's type.
  bool is_given_so(const Layer& l) const {
    const OpRow* row = find_op(node(l));
    if (!row || row->algebra != Algebra::convert || l.outputs[0] == kNoTensor) return false;
    const DType from = graph_.tensor(l.inputs[0]).dtype;
    if (is_float(from) || from == DType::boolean || !is_float(graph_.tensor(l.outputs[0]).dtype))
      return false;
    TensorId at = l.inputs[0];
    while (readers_[static_cast<size_t>(at)].size() == 1 && !is_output_[static_cast<size_t>(at)]) {
      if (is_input_[static_cast<size_t>(at)]) return true;
      const NodeId producer = graph_.tensor(at).producer;
      if (producer == kNoNode) return false;
      const Layer& view = lowered_.layers[static_cast<size_t>(producer)];
      if (view.fate != Fate::view || view.inputs[0] == kNoTensor) return false;
      at = view.inputs[0];
    }
    return false;
  }

  /// A layer whose output 0 lies as the only tensor does that it reads.
  struct Carrier {
    Layer* layer = nullptr;
    TensorId from = kNoTensor;
    bool view = false;  ///< else elementwise
  };

  /// The one that gives `id`; none when another one does.
  Carrier carrier_of(TensorId id) {
    const NodeId producer = graph_.tensor(id).producer;
    if (producer == kNoNode) return {};
    Layer* l = &lowered_.layers[static_cast<size_t>(producer)];
    if (l->merged_into >= 0) l = &lowered_.layers[static_cast<size_t>(l->merged_into)];
    if (l->outputs[0] != id || l->inputs.empty()) return {};
    Carrier c{l, l->inputs[0], l->fate == Fate::view && l->work.empty()};
    if (!c.view) {
      const OpRow* row = find_op(node(*l));
      if (l->fate != Fate::vector || !row || row->layout_rule() != LayoutRule::alike) return {};
      std::vector<ValuePort> ports = ports_read(*l);
      std::erase_if(ports,
                    [&](ValuePort p) { return graph_.tensor(l->inputs[p.index()]).constant; });
      if (ports.size() != 1) return {};
      c.from = l->inputs[ports[0].index()];
      if (dims(c.from) != dims(id)) return {};
    }
    const bool all = c.from != kNoTensor && !graph_.tensor(c.from).constant &&
                     elements(dims(c.from)) == elements(dims(id));
    return all ? c : Carrier{};
  }

  /// Views that are looked through for a transpose.
  static constexpr int kMostViews = 64;

  /// Who can give `id` in another layout by a copy of its own: the transpose before it, or the
  /// nearest view, as long as nobody reads what is between as it lies now.
  Layer* moving_view(TensorId id) {
    if (taken_[static_cast<size_t>(id)]) return nullptr;
    Layer* nearest = nullptr;
    TensorId at = id;
    for (int views = 0; views < kMostViews; ++views) {
      const Carrier c = carrier_of(behind_elementwise(at));
      if (!c.layer || !c.view) break;
      if (!nearest) nearest = c.layer;
      if (is_turn(*c.layer)) return c.layer;
      if (!is_between(c.from)) break;
      at = c.from;
    }
    return nearest;
  }

  bool is_between(TensorId id) const {
    return readers_[static_cast<size_t>(id)].size() == 1 && !is_output_[static_cast<size_t>(id)];
  }

  /// The tensor that elementwise layers make `id` of, one behind another, as long as nobody else
  /// reads what is between. Layers before this one don't change any more, so that it is remembered.
  TensorId behind_elementwise(TensorId id) {
    std::vector<TensorId> passed;
    TensorId at = id;
    while (behind_[static_cast<size_t>(at)] == kNoTensor) {
      const Carrier c = carrier_of(at);
      if (!c.layer || c.view || !is_between(c.from)) {
        behind_[static_cast<size_t>(at)] = at;
        break;
      }
      passed.push_back(at);
      at = c.from;
    }
    at = behind_[static_cast<size_t>(at)];
    for (const TensorId each : passed) behind_[static_cast<size_t>(each)] = at;
    return at;
  }

  void turn_into_copy(Layer& view, TensorId id, const Layout& to) {
    const TensorId out = view.outputs[0];
    const Layout from = layout(out);
    for (TensorId at = id; at != out; at = carrier_of(at).from) layout(at) = to;
    layout(out) = to;
    view.work = layout_copy(from, to, elements(dims(id)), {});
    view.fate = Fate::memory;
  }

  // ---- work
  // ----------------------------------------------------------------------------------------

  void lay_out(Layer& l) {
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
    if (!as_is && is_input_[static_cast<size_t>(id)] && !taken_[static_cast<size_t>(id)]) {
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
  const std::vector<std::vector<NodeId>>& readers_;
  std::vector<bool> is_input_, is_output_;
  std::vector<bool> taken_;       ///< by tensor: somebody reads it as it lies
  std::vector<TensorId> behind_;  ///< by tensor: behind_elementwise(), where it is known
};

}  // namespace

void lay_out(const Graph& graph, Lowered& lowered) { LayOut(graph, lowered).lay_out_all(); }

}  // namespace accsim::sim
