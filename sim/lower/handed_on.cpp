#include "sim/lower/handed_on.h"

#include <algorithm>

#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

class HandedOn {
 public:
  explicit HandedOn(Graph graph)
      : graph_(std::move(graph)),
        readers_(consumers(graph_)),
        kept_(graph_.tensors.size()),
        is_(graph_.tensors.size()) {
    for (size_t t = 0; t < is_.size(); ++t) is_[t] = static_cast<TensorId>(t);
    for (const TensorId id : graph_.outputs) kept_[index(id)] = true;
  }

  Graph run() {
    for (Node& node : graph_.nodes) {
      for (TensorId& in : node.inputs)
        if (in != kNoTensor) in = is_[index(in)];
      if (!hands_on(node) || has_other_results(node)) continue;
      is_[index(node.outputs[0])] = node.inputs[0];
      node.folded = node.absorbed = true;
      node.inputs[0] = kNoTensor;
    }
    return std::move(graph_);
  }

 private:
  static size_t index(TensorId id) { return static_cast<size_t>(id); }

  bool hands_on(const Node& node) const {
    const OpRow* row = find_op(node);
    if (!row || !row->pointwise || node.folded || node.inputs.empty()) return false;
    if (row->fate != Fate::view && row->algebra != Algebra::convert) return false;
    if (node.inputs[0] == kNoTensor || node.outputs[0] == kNoTensor) return false;
    const Tensor &from = graph_.tensor(node.inputs[0]), &to = graph_.tensor(node.outputs[0]);
    return !from.constant && from.dtype == to.dtype && from.dims == to.dims;
  }

  /// Does the graph give what it makes, or anything read more of it than what it hands on?
  bool has_other_results(const Node& node) const {
    return std::ranges::any_of(node.outputs, [&](TensorId id) {
      if (id == kNoTensor) return false;
      return kept_[index(id)] || (id != node.outputs[0] && !readers_[index(id)].empty());
    });
  }

  Graph graph_;
  const std::vector<std::vector<NodeId>> readers_;
  std::vector<bool> kept_;    ///< by tensor: does the graph give it?
  std::vector<TensorId> is_;  ///< by tensor: the one that is read in its place
};

}  // namespace

Graph skip_handed_on(Graph graph) { return HandedOn(std::move(graph)).run(); }

}  // namespace accsim::sim
