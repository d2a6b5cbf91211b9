#include "sim/lower/rotations.h"

#include <algorithm>
#include <set>

#include "sim/lower/sub_tensor_geometry.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

/// A tensor that nodes turn.
struct Turn {
  TensorId of = kNoTensor;
  int64_t piece = 1;
  NodeId put = kNoNode;       ///< who puts its pieces together
  std::vector<NodeId> nodes;  ///< all of them
};

/// Pieces of a tensor, and where they lie in another one.
struct Pieces {
  TensorId of = kNoTensor;
  SubTensor place{};

  /// Are they each first or each second one (`which`) of its pieces?
  bool lie_at(int64_t which, int64_t piece, int64_t all) const {
    const Pitch pitch = all == 2 * piece ? Pitch{} : Pitch{piece, 2 * piece};
    return place == SubTensor{kNoTensor, which * piece, pitch};
  }
};

class Rotations {
 public:
  Rotations(const Graph& graph, Lowered& lowered)
      : graph_(graph),
        lowered_(lowered),
        readers_(lowered.readers),
        is_output_(graph.tensors.size(), false) {
    for (const TensorId id : graph.outputs) is_output_[static_cast<size_t>(id)] = true;
  }

  void merge_layer(NodeId id) {
    Layer& l = layer(id);
    if (!is_product(l)) return;
    for (size_t port = 0; port < l.inputs.size(); ++port) {
      const auto turn = turn_of(l.inputs[port]);
      const TensorId of = turn ? tensor_of_dims(turn->of, dims(l.outputs[0])) : kNoTensor;
      if (of == kNoTensor) continue;
      const std::set<NodeId> needless = needless_with(*turn, id);
      if (!needless.contains(turn->put)) continue;
      l.inputs[port] = of;
      l.turned = {static_cast<int>(port), turn->piece};
      for (const NodeId node : needless) merge_layer(node, id);
      return;
    }
  }

 private:
  const Dims& dims(TensorId id) const { return graph_.tensor(id).dims; }
  int64_t elements_of(TensorId id) const { return elements(dims(id)); }
  const Node& node(NodeId id) const { return graph_.nodes[static_cast<size_t>(id)]; }
  Layer& layer(NodeId id) { return lowered_.layers[static_cast<size_t>(id)]; }
  const Layer& layer(NodeId id) const { return lowered_.layers[static_cast<size_t>(id)]; }

  /// Which nodes of the turn nobody reads any more when the product doesn't.
  std::set<NodeId> needless_with(const Turn& turn, NodeId product) const {
    std::set<NodeId> out;
    const auto is_gone = [&](NodeId id) { return id == product || out.contains(id); };
    const auto is_needless = [&](TensorId id) {
      return id == kNoTensor || (!is_output_[static_cast<size_t>(id)] &&
                                 std::ranges::all_of(readers_[static_cast<size_t>(id)], is_gone));
    };
    for (bool more = true; more;) {
      more = false;
      for (const NodeId id : turn.nodes)
        if (std::ranges::all_of(node(id).outputs, is_needless)) more |= out.insert(id).second;
    }
    return out;
  }

  void merge_layer(NodeId id, NodeId into) {
    Layer& l = layer(id);
    l.work.clear();
    l.function = {};
    l.in_function = false;
    l.fate = Fate::folded;
    l.merged_into = static_cast<int>(into);
  }

  /// A product of two tensors, and nothing else.
  bool is_product(const Layer& l) const {
    const Node& n = node(l.node);
    const OpRow* row = find_op(n);
    return l.fate == Fate::vector && row && row->lane == LaneRule::none &&
           row->arithmetic == LaneArithmetic::mul && l.function.empty() && !l.rows &&
           l.inputs == n.inputs && l.outputs == n.outputs && l.inputs.size() == 2 &&
           l.work.size() == 1 && std::holds_alternative<VectorOp>(l.work.front());
  }

  /// The layer that shows a tensor as a view of all of another one; nullptr: none does.
  const Layer* view_giving(TensorId id) const {
    const NodeId at = graph_.tensor(id).producer;
    if (at == kNoNode) return nullptr;
    const Layer& l = layer(at);
    const bool shows = l.fate == Fate::view && l.work.empty() && l.outputs.size() == 1 &&
                       !l.inputs.empty() && l.inputs[0] != kNoTensor;
    return shows && elements_of(l.inputs[0]) == elements_of(id) ? &l : nullptr;
  }
  /// The first tensor, from `id` on up, that isn't shown by a view of it; the views on the way.
  TensorId shown_tensor(TensorId id, std::vector<NodeId>& views) const {
    while (const Layer* view = view_giving(id)) {
      views.push_back(view->node);
      id = view->inputs[0];
    }
    return id;
  }
  /// The tensor itself, or one that it is a view of, that has these dims; kNoTensor: none has.
  TensorId tensor_of_dims(TensorId id, const Dims& wanted) const {
    while (dims(id) != wanted) {
      const Layer* view = view_giving(id);
      if (!view) return kNoTensor;
      id = view->inputs[0];
    }
    return id;
  }
  /// Who makes a tensor, by work of that fate; nullptr where nobody does.
  const Layer* maker_with_fate(TensorId id, Fate fate) const {
    const NodeId producer = graph_.tensor(id).producer;
    return producer != kNoNode && layer(producer).fate == fate ? &layer(producer) : nullptr;
  }

  std::optional<Turn> turn_of(TensorId id) const {
    Turn turn;
    const Layer* put = maker_with_fate(shown_tensor(id, turn.nodes), Fate::memory);
    if (!put || put->work.size() != 2) return std::nullopt;
    turn.put = put->node;
    turn.nodes.push_back(put->node);
    const auto first = put_together(*put, 0), second = put_together(*put, 1);
    if (!first || !second) return std::nullopt;
    const auto minus = negation_source(first->of, turn.nodes);
    if (!minus) return std::nullopt;
    const auto high = cut_out(*minus, turn.nodes), low = cut_out(second->of, turn.nodes);
    if (!high || !low || high->of != low->of) return std::nullopt;
    turn.of = low->of;
    const int64_t all = elements_of(id);
    turn.piece = first->place.pitch.is_dense() ? all / 2 : first->place.pitch.run;
    const bool turns = first->lie_at(0, turn.piece, all) && second->lie_at(1, turn.piece, all) &&
                       low->lie_at(0, turn.piece, all) && high->lie_at(1, turn.piece, all);
    const bool computed = !graph_.tensor(turn.of).constant && elements_of(turn.of) == all;
    return turns && computed ? std::optional(turn) : std::nullopt;
  }

  /// What a move of the layer puts into its result, and where.
  std::optional<Pieces> put_together(const Layer& l, size_t move) const {
    const auto* op = std::get_if<MemoryOp>(&l.work[move]);
    if (!op || op->inputs.size() != 1 || !op->inputs[0].port.is_of_node()) return std::nullopt;
    const TensorId from = l.inputs[op->inputs[0].port.index()];
    const auto place = moved_sub_tensor(*op, false, elements_of(from));
    return place ? std::optional(Pieces{from, *place}) : std::nullopt;
  }

  /// What a tensor is cut out of, and where it lies there.
  std::optional<Pieces> cut_out(TensorId id, std::vector<NodeId>& nodes) const {
    id = shown_tensor(id, nodes);
    const Layer* cut = maker_with_fate(id, Fate::memory);
    if (!cut) return std::nullopt;
    for (const WorkItem& item : cut->work) {
      const auto* op = std::get_if<MemoryOp>(&item);
      if (!op || op->inputs.size() != 1 || op->outputs.size() != 1 ||
          !op->inputs[0].port.is_of_node() || !op->outputs[0].port.is_of_node() ||
          cut->outputs[op->outputs[0].port.index()] != id)
        continue;
      const auto place = moved_sub_tensor(*op, true, elements_of(id));
      if (!place) return std::nullopt;
      nodes.push_back(cut->node);
      return Pieces{cut->inputs[op->inputs[0].port.index()], *place};
    }
    return std::nullopt;
  }

  /// The tensor of which this one is the negative.
  std::optional<TensorId> negation_source(TensorId id, std::vector<NodeId>& nodes) const {
    const Layer* l = maker_with_fate(shown_tensor(id, nodes), Fate::vector);
    if (!l || l->function.empty()) return std::nullopt;
    bool minus = false;
    for (const NodeId n : l->function.nodes) {
      const OpRow* row = find_op(node(n));
      const bool negates = row && row->algebra == Algebra::negate;
      const bool converts = row && row->algebra == Algebra::convert;
      if ((!negates && !converts) || !is_float(graph_.tensor(node(n).outputs[0]).dtype))
        return std::nullopt;
      minus ^= negates;
      nodes.push_back(n);
    }
    return minus ? std::optional(l->function.of) : std::nullopt;
  }

  const Graph& graph_;
  Lowered& lowered_;
  const std::vector<std::vector<NodeId>>& readers_;
  std::vector<bool> is_output_;
};

}  // namespace

void merge_rotations(const Graph& graph, Lowered& lowered) {
  Rotations rotations(graph, lowered);
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) rotations.merge_layer(id);
}

}  // namespace accsim::sim
