#include "sim/lower/code_uses.h"

namespace accsim::sim {
namespace {

class CodeUseFinder {
 public:
  explicit CodeUseFinder(const Graph& graph)
      : graph_(graph), uses_(graph.nodes.size()), stands_(graph.tensors.size(), false) {}

  std::vector<CodeUse> find_uses() {
    for (size_t i = 0; i < uses_.size(); ++i) uses_[i] = use_of(graph_.nodes[i]);
    for (size_t t = 0; t < stands_.size(); ++t)
      stands_[t] = is_varying_code(graph_, static_cast<TensorId>(t));
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < uses_.size(); ++i) {
        const Node& node = graph_.nodes[i];
        if (uses_[i] != CodeUse::none && codes_stand_for_reals(node)) continue;
        uses_[i] = CodeUse::none;
        each_code(graph_, node, [&](TensorId id) {
          changed = changed || stands_[index(id)];
          stands_[index(id)] = false;
        });
      }
    }
    return std::move(uses_);
  }

 private:
  static size_t index(TensorId id) { return static_cast<size_t>(id); }

  /// Are all scales and zero points constants?
  bool is_static(const Node& node, const OpRow& row) const {
    for (size_t port = 0; port < node.inputs.size(); ++port)
      if (row.is_quantisation(port) && !is_fixed_input(node, port, graph_)) return false;
    return true;
  }
  bool has_one_scale(const Node& node) const {
    return elements(graph_.tensor(node.inputs[1]).dims) == 1;
  }

  CodeUse use_of(const Node& node) const {
    const OpRow* row = find_op(node);
    if (!row || node.folded || node.outputs.empty() || node.outputs[0] == kNoTensor)
      return CodeUse::none;
    const TensorId in = node.inputs.empty() ? kNoTensor : node.inputs[0], out = node.outputs[0];
    if (!is_static(node, *row)) return CodeUse::none;
    if (row->codes == Codes::makes)
      return is_code(graph_, out) && is_float(graph_.tensor(in).dtype) && has_one_scale(node)
                 ? CodeUse::makes
                 : CodeUse::none;
    if (row->codes == Codes::takes)
      return is_varying_code(graph_, in) && has_one_scale(node) ? CodeUse::takes : CodeUse::none;
    if (!row->real.empty() && !lies_otherwise(node))
      return is_code(graph_, out) || is_float(graph_.tensor(out).dtype) ? CodeUse::works
                                                                        : CodeUse::none;
    return is_move(node, *row) ? CodeUse::moves : CodeUse::none;
  }

  /// No operator on reals has the channels of pixels innermost.
  bool lies_otherwise(const Node& node) const {
    return NodeView(graph_, node).attr("channels_last", int64_t{0}) != 0;
  }

  /// What only moves or picks elements of input 0 and its kin.
  bool is_move(const Node& node, const OpRow& row) const {
    const bool picks = row.lane == LaneRule::pool_max || row.lane == LaneRule::reduce_max ||
                       row.lane == LaneRule::reduce_min || row.lane == LaneRule::nearest;
    if (!picks && row.fate != Fate::memory && row.fate != Fate::view) return false;
    // Sums and products of integers aren't those of the reals.
    if (NodeView(graph_, node).attr("reduction", "none") != "none") return false;
    return !node.inputs.empty() && is_code(graph_, node.inputs[0]) &&
           is_code(graph_, node.outputs[0]) &&
           graph_.tensor(node.inputs[0]).dtype == graph_.tensor(node.outputs[0]).dtype;
  }

  bool codes_stand_for_reals(const Node& node) const {
    bool all = true;
    each_code(graph_, node, [&](TensorId id) { all = all && stands_[index(id)]; });
    return all;
  }

  const Graph& graph_;
  std::vector<CodeUse> uses_;
  std::vector<bool> stands_;  ///< by tensor: integers that stand for reals everywhere
};

}  // namespace

bool is_code(const Graph& graph, TensorId id) {
  const hw::NumberFormat* const f = id == kNoTensor ? nullptr : format_of(graph.tensor(id).dtype);
  return f != nullptr && (f->bits == 8 || (f->bits == 16 && f->is_integer()));
}

std::vector<CodeUse> code_uses(const Graph& graph) { return CodeUseFinder(graph).find_uses(); }

}  // namespace accsim::sim
