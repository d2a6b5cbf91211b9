#include "sim/lower/handed_on.h"

#include <algorithm>

#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

/// Floats that a machine keeps alike, in its own type. Those of 8 bits and fewer are numbers of
/// quantised networks.
bool is_wide(const Tensor& t) { return is_float(t.dtype) && !fits_byte(t.dtype); }

enum class What : uint8_t { same_values, float_casts };

class HandedOn {
 public:
  HandedOn(Graph graph, What what)
      : graph_(std::move(graph)),
        what_(what),
        readers_(consumers_by_tensor(graph_)),
        kept_(graph_.tensors.size()),
        is_(graph_.tensors.size()) {
    for (size_t t = 0; t < is_.size(); ++t) is_[t] = static_cast<TensorId>(t);
    for (const TensorId id : graph_.outputs) kept_[index(id)] = true;
  }

  Graph skip_handing_nodes() {
    for (Node& node : graph_.nodes) {
      read_instead(node);
      if (!hands_on(node) || has_other_results(node)) continue;
      const TensorId from = node.inputs[0], to = node.outputs[0];
      if (kept_[index(to)]) {
        if (!gives_instead(from, to)) continue;
        is_[index(from)] = to;
        node.outputs[0] = from;
        graph_.tensors[index(from)].producer = graph_.tensors[index(to)].producer;
        graph_.tensors[index(to)].producer = maker_;
      } else {
        is_[index(to)] = from;
      }
      node.folded = node.absorbed = true;
      std::ranges::fill(node.inputs, kNoTensor);
    }
    // Who stands before what is given reads it under its new name, too.
    for (Node& node : graph_.nodes) read_instead(node);
    return std::move(graph_);
  }

 private:
  static size_t index(TensorId id) { return static_cast<size_t>(id); }

  void read_instead(Node& node) const {
    for (TensorId& in : node.inputs)
      while (in != kNoTensor && is_[index(in)] != in) in = is_[index(in)];
  }

  bool hands_on(const Node& node) const {
    const OpRow* row = find_op(node);
    if (!row || !row->pointwise || node.folded || node.inputs.empty()) return false;
    const bool converts = row->algebra == Algebra::convert;
    if (row->fate != Fate::view && !converts) return false;
    if (node.inputs[0] == kNoTensor || node.outputs[0] == kNoTensor) return false;
    const Tensor &from = graph_.tensor(node.inputs[0]), &to = graph_.tensor(node.outputs[0]);
    if (from.constant || from.dims != to.dims) return false;
    return what_ == What::same_values ? from.dtype == to.dtype : is_float_cast(graph_, node);
  }

  /// Lets a node give `to`, an output of the graph, where it gives `from` so far; false where it
  /// can't.
  bool gives_instead(TensorId from, TensorId to) {
    const Tensor& t = graph_.tensor(from);
    if (what_ == What::same_values || t.producer == kNoNode || kept_[index(from)]) return false;
    Node& maker = graph_.nodes[static_cast<size_t>(t.producer)];
    const auto output = std::ranges::find(maker.outputs, from);
    if (maker.folded || output == maker.outputs.end()) return false;
    *output = to;
    maker_ = t.producer;
    return true;
  }

  /// Does anything read more of it than what it hands on, or the graph give that?
  bool has_other_results(const Node& node) const {
    return std::ranges::any_of(node.outputs, [&](TensorId id) {
      if (id == kNoTensor || id == node.outputs[0]) return false;
      return kept_[index(id)] || !readers_[index(id)].empty();
    });
  }

  Graph graph_;
  const What what_;
  const std::vector<std::vector<NodeId>> readers_;
  std::vector<bool> kept_;    ///< by tensor: does the graph give it?
  std::vector<TensorId> is_;  ///< by tensor: the one that is read in its place
  NodeId maker_ = kNoNode;    ///< of what a graph's output was made from last
};

}  // namespace

Graph skip_handed_on(Graph graph) {
  return HandedOn(std::move(graph), What::same_values).skip_handing_nodes();
}

bool is_float_cast(const Graph& graph, const Node& node) {
  const OpRow* row = find_op(node);
  return row && row->algebra == Algebra::convert && !node.folded && !node.inputs.empty() &&
         node.inputs[0] != kNoTensor && node.outputs[0] != kNoTensor &&
         is_wide(graph.tensor(node.inputs[0])) && is_wide(graph.tensor(node.outputs[0]));
}

std::optional<Graph> without_float_casts(const Graph& graph) {
  DType narrowest = DType::float64;
  bool any = false;
  for (const Node& node : graph.nodes) {
    if (!is_float_cast(graph, node)) continue;
    any = true;
    for (const TensorId id : {node.inputs[0], node.outputs[0]})
      if (bits(graph.tensor(id).dtype) < bits(narrowest)) narrowest = graph.tensor(id).dtype;
  }
  if (!any) return std::nullopt;
  Graph out = HandedOn(graph, What::float_casts).skip_handing_nodes();
  for (Tensor& t : out.tensors)
    if (!t.constant && is_wide(t)) t.dtype = narrowest;
  return out;
}

}  // namespace accsim::sim
