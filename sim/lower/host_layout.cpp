#include "sim/lower/host_layout.h"

#include <algorithm>

#include "sim/operators/movement/box_rules.h"
#include "sim/operators/op_table.h"
#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

class Host {
 public:
  Host(const Graph& graph, const std::vector<std::vector<NodeId>>& readers)
      : graph_(graph), readers_(readers) {}

  /// What the first reader that cares wants.
  std::optional<Layout> wanted_layout(TensorId id) {
    for (const NodeId reader : readers_[static_cast<size_t>(id)]) {
      if (looked_at_++ > kMost) return std::nullopt;
      if (auto layout = wanted_by(graph_.nodes[static_cast<size_t>(reader)], id)) return layout;
    }
    return std::nullopt;
  }

 private:
  static constexpr int kMost = 256;  ///< nodes looked at: inputs' readers aren't far away

  std::optional<Layout> wanted_by(const Node& node, TensorId id) {
    const OpRow* row = find_op(node);
    if (!row || node.folded || node.outputs.empty() || node.outputs[0] == kNoTensor)
      return std::nullopt;
    const TensorId out = node.outputs[0];
    const Dims &from = graph_.tensor(id).dims, &to = graph_.tensor(out).dims;
    if (row->fusion == Fusion::turn) return before_turn(node, to, out);
    if (row->fate == Fate::view && elements(from) == elements(to)) return wanted_layout(out);
    switch (row->layout_rule()) {
      case LayoutRule::alike:
        return from == to ? wanted_layout(out) : std::nullopt;
      case LayoutRule::by_axes: {
        const auto layout = from.size() == to.size() ? wanted_layout(out) : std::nullopt;
        const auto order = layout ? order_of(*layout, to) : std::nullopt;
        return order ? std::optional(layout_in_order(from, *order)) : std::nullopt;
      }
      case LayoutRule::channels_last:
      case LayoutRule::image:
        if (node.inputs[0] != id || int_attr(NodeView(graph_, node), "channels_last", 0) != 0)
          return row_major_layout(from);
        return channels_last_layout(from);
      case LayoutRule::product:
      case LayoutRule::reduced:
      case LayoutRule::picked:
        return std::nullopt;
      default:
        return row_major_layout(from);
    }
  }

  std::optional<Layout> before_turn(const Node& node, const Dims& to, TensorId out) {
    const auto perm = permutation_of(NodeView(graph_, node));
    const auto layout = wanted_layout(out);
    if (!perm || !layout) return std::nullopt;
    std::vector<int64_t> back(perm->size());
    for (size_t i = 0; i < back.size(); ++i)
      back[static_cast<size_t>((*perm)[i])] = static_cast<int64_t>(i);
    return transposed_layout(*layout, to, back);
  }

  const Graph& graph_;
  const std::vector<std::vector<NodeId>>& readers_;
  int looked_at_ = 0;
};

}  // namespace

Layout host_layout(const Graph& graph, const std::vector<std::vector<NodeId>>& readers,
                   TensorId input) {
  const Dims& dims = graph.tensor(input).dims;
  const auto wanted = Host(graph, readers).wanted_layout(input);
  const bool usual = wanted && *wanted == channels_last_layout(dims);
  return usual ? *wanted : row_major_layout(dims);
}

}  // namespace accsim::sim
