#include "sim/lower/logarithms.h"

#include <algorithm>
#include <set>

#include "sim/base/sums.h"
#include "sim/lower/attention.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"
#include "sim/operators/reduction/reduction_rules.h"
#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

bool reduces_last_axis(const NodeView& node) {
  const auto axes = reduced_axes(node);
  return axes && axes->size() == 1 && axes->front() == node.rank(0) - 1;
}

}  // namespace

std::map<NodeId, NodeId> softmax_logarithms(const Graph& graph,
                                            const std::vector<std::vector<NodeId>>& readers) {
  std::map<NodeId, NodeId> out;
  std::set<NodeId> taken;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!is_node(node, op::kReduceLogSumExp) || !reduces_last_axis(NodeView(graph, node))) continue;
    for (const NodeId reader : readers[static_cast<size_t>(node.inputs[0])]) {
      const Node& softmax = graph.nodes[static_cast<size_t>(reader)];
      if (reader > static_cast<NodeId>(i) || !is_node(softmax, op::kSoftmax)) continue;
      if (!is_along_last_axis(NodeView(graph, softmax)) || !taken.insert(reader).second) continue;
      out[static_cast<NodeId>(i)] = reader;
      break;
    }
  }
  return out;
}

void merge_logarithms(const Graph& graph, Lowered& lowered) {
  for (const auto& [node, softmax] : softmax_logarithms(graph, lowered.readers)) {
    Layer& own = lowered.layers[static_cast<size_t>(node)];
    Layer& l = lowered.layers[static_cast<size_t>(softmax)];
    const Node& as_written = graph.nodes[static_cast<size_t>(softmax)];
    if (l.work.empty() || !std::holds_alternative<VectorOp>(l.work.back())) continue;
    if (!l.rows && l.outputs == as_written.outputs)
      l.rows = find_op(as_written)->rows(NodeView(graph, as_written));
    if (!l.rows) continue;
    l.rows->log_port = static_cast<int>(l.outputs.size());
    const int64_t rows = elements(graph.tensor(own.outputs[0]).dims);
    auto& op = std::get<VectorOp>(l.work.back());
    op.outputs.push_back({*l.rows->log_port, rows, 0});
    op[VectorClass::special] = add_counts(op[VectorClass::special], rows);
    l.outputs.push_back(own.outputs[0]);
    own.work.clear();
    own.fate = Fate::folded;
    own.merged_into = static_cast<int>(softmax);
  }
}

}  // namespace accsim::sim
