#include "sim/lower/image_turns.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sim/operators/names.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

constexpr size_t kLeastRank = 3;  ///< of an image: batch, channels, one or more spatial dims

constexpr int64_t kTransposeOpset = 13;

using Perm = std::vector<int64_t>;

/// A tensor as another one with its dims in another order: dim i is dim perm[i] of the source.
struct TurnedTensor {
  TensorId source = kNoTensor;
  Perm perm;
};

bool is_transpose(const Node& n) { return n.domain.empty() && n.op_type == op::kTranspose; }

Dims turned_back(const Dims& dims, const Perm& perm) {
  Dims out = dims;
  for (size_t i = 0; i < perm.size(); ++i) out[static_cast<size_t>(perm[i])] = dims[i];
  return out;
}

class SinkTurns {
 public:
  explicit SinkTurns(Graph graph) : graph_(std::move(graph)) {
    is_output_.insert(graph_.outputs.begin(), graph_.outputs.end());
  }

  Graph sink_all() {
    std::vector<Node> nodes = std::exchange(graph_.nodes, {});
    for (Node& n : nodes) visit_node(std::move(n));
    absorb_unread();
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      for (const TensorId id : graph_.nodes[i].outputs)
        if (id != kNoTensor) graph_.tensor(id).producer = static_cast<NodeId>(i);
    return std::move(graph_);
  }

 private:
  void visit_node(Node n) {
    for (TensorId& id : n.inputs)
      if (const auto at = same_as_.find(id); at != same_as_.end()) id = at->second;
    const OpRow* row = find_op(n);
    if (row == nullptr || n.folded || n.absorbed) return keep_node(std::move(n));
    if (is_transpose(n)) return note_turn(std::move(n));
    if (const TurnedTensor* turn = common_turn(n, *row)) return sink_node(std::move(n), *turn);
    if (row->kind == OpKind::convolution || row->kind == OpKind::pooling)
      for (const TensorId id : n.outputs)
        if (id != kNoTensor) images_.insert(id);
    keep_node(std::move(n));
  }

  void keep_node(Node n) { graph_.nodes.push_back(std::move(n)); }

  void note_turn(Node n) {
    const TensorId in = n.inputs[0], out = n.outputs[0];
    const auto perm = NodeView(graph_, n).attr_ints("perm");
    keep_node(std::move(n));
    if (!perm || out == kNoTensor) return;
    TurnedTensor turn{in, {perm->begin(), perm->end()}};
    if (const auto before = turns_.find(in); before != turns_.end()) {
      turn.source = before->second.source;
      for (int64_t& axis : turn.perm) axis = before->second.perm[static_cast<size_t>(axis)];
      if (std::ranges::is_sorted(turn.perm)) {
        if (!is_output_.contains(out)) same_as_[out] = turn.source;
        return;
      }
    }
    if (images_.contains(turn.source) && turn.perm.size() >= kLeastRank)
      turns_.emplace(out, std::move(turn));
  }

  /// The turn that all its tensors have, if its work may stand before it.
  const TurnedTensor* common_turn(const Node& n, const OpRow& row) const {
    const bool joins = n.domain.empty() && n.op_type == op::kConcat;
    if ((!row.pointwise && !joins) || n.outputs.size() != 1 || n.outputs[0] == kNoTensor)
      return nullptr;
    const TurnedTensor* found = nullptr;
    bool whole = false;
    for (const TensorId id : n.inputs) {
      if (id == kNoTensor) continue;
      const auto at = turns_.find(id);
      if (at == turns_.end()) {
        if (!graph_.tensor(id).constant || elements(graph_.tensor(id).dims) != 1 || joins)
          return nullptr;
        continue;
      }
      if (found != nullptr && found->perm != at->second.perm) return nullptr;
      found = &at->second;
      whole = whole || graph_.tensor(id).dims == graph_.tensor(n.outputs[0]).dims;
    }
    const size_t rank = graph_.tensor(n.outputs[0]).dims.size();
    return found != nullptr && (whole || joins) && rank == found->perm.size() ? found : nullptr;
  }

  void sink_node(Node n, const TurnedTensor& turn) {
    const Perm perm = turn.perm;
    const TensorId out = n.outputs[0];
    for (TensorId& id : n.inputs)
      if (const auto at = turns_.find(id); at != turns_.end()) id = at->second.source;
    for (Attribute& a : n.attributes)  // of a join
      if (auto* axis = std::get_if<int64_t>(&a.value); axis != nullptr && a.name == "axis")
        *axis = perm[static_cast<size_t>(*axis < 0 ? *axis + std::ssize(perm) : *axis)];
    const auto image = static_cast<TensorId>(graph_.tensors.size());
    Tensor made = graph_.tensor(out);
    made.name += "_image";
    made.dims = turned_back(made.dims, perm);
    graph_.tensors.push_back(std::move(made));
    n.outputs[0] = image;
    Node turned;
    turned.name = n.name + "/turned";
    turned.op_type = op::kTranspose;
    turned.opset = kTransposeOpset;
    turned.inputs = {image};
    turned.outputs = {out};
    turned.attributes = {{"perm", "", perm}};
    turned.module = n.module;
    turned.part_of = n.name;
    keep_node(std::move(n));
    keep_node(std::move(turned));
    images_.insert(image);
    turns_.insert_or_assign(out, TurnedTensor{image, perm});
  }

  /// Transposes whose results were read before and aren't now.
  void absorb_unread() {
    const auto readers = consumers_by_tensor(graph_);
    std::vector<size_t> left(graph_.tensors.size());
    for (size_t t = 0; t < left.size(); ++t) left[t] = readers[t].size();
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      Node& n = graph_.nodes[i];
      if (!is_transpose(n) || n.folded || n.outputs[0] == kNoTensor) continue;
      const TensorId out = n.outputs[0];
      if (left[static_cast<size_t>(out)] > 0 || is_output_.contains(out)) continue;
      if (!turns_.contains(out) && !same_as_.contains(out)) continue;
      --left[static_cast<size_t>(n.inputs[0])];
      n.folded = n.absorbed = true;
      n.inputs[0] = kNoTensor;
    }
  }

  Graph graph_;
  std::set<TensorId> is_output_, images_;
  std::map<TensorId, TurnedTensor> turns_;  ///< by the tensor that is turned
  std::map<TensorId, TensorId> same_as_;    ///< what is turned twice, back to where it was
};

}  // namespace

Graph sink_image_turns(Graph graph) { return SinkTurns(std::move(graph)).sink_all(); }

}  // namespace accsim::sim
