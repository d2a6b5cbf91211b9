#include "sim/lower/attention.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "sim/operators/names.h"
#include "sim/operators/op_table.h"
#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

class Finder {
 public:
  explicit Finder(const Graph& graph) : graph_(graph), readers_(consumers_by_tensor(graph)) {}

  std::optional<Attention> attention_of(NodeId softmax) const {
    const Node& node = graph_.nodes[static_cast<size_t>(softmax)];
    const NodeView view(graph_, node);
    if (!is_node(node, op::kSoftmax) || !is_along_last_axis(view) || view.rank(0) < 2)
      return std::nullopt;
    const TensorId weights = node.outputs[0];
    if (!is_between(weights) || !is_float(view.dtype(0))) return std::nullopt;
    Attention out;
    out.softmax = softmax;
    out.attended = readers_[static_cast<size_t>(weights)].front();
    const Node& attended = graph_.nodes[static_cast<size_t>(out.attended)];
    if (!is_product(attended) || attended.inputs[0] != weights || attended.inputs[1] == weights)
      return std::nullopt;
    if (!leads_to_scores(node.inputs[0], out) || !take_sizes(out)) return std::nullopt;
    return out;
  }

 private:
  const Dims& dims(TensorId id) const { return graph_.tensor(id).dims; }

  /// Has it one reader and is no result?
  bool is_between(TensorId id) const {
    return readers_[static_cast<size_t>(id)].size() == 1 &&
           std::ranges::find(graph_.outputs, id) == graph_.outputs.end();
  }
  bool is_product(const Node& node) const {
    return is_node(node, op::kMatMul) && !graph_.tensor(node.inputs[0]).constant &&
           !graph_.tensor(node.inputs[1]).constant;
  }

  /// Where the walk from a softmax back to its scores is: a node, and which input comes next.
  struct Step {
    NodeId node;
    size_t next = 0;
  };

  /// Finds the product that makes the scores, behind nodes that change single scores; tries each
  /// of their inputs. A chain of them may be as long as the graph.
  bool leads_to_scores(TensorId id, Attention& out) const {
    std::vector<Step> path;
    for (std::optional<TensorId> at = id; at; at = next_input(path)) {
      const NodeId producer = graph_.tensor(*at).producer;
      if (producer == kNoNode || !is_between(*at)) continue;
      const Node& node = graph_.nodes[static_cast<size_t>(producer)];
      if (is_product(node) && node.inputs[0] != node.inputs[1]) {
        out.scores = producer;
        for (const Step& step : path) out.between.push_back(step.node);
        return true;
      }
      if (changes_scores(node)) path.push_back({producer});
    }
    return false;
  }

  /// The input with which the walk goes on, of the last node that has one more; nothing at its end.
  std::optional<TensorId> next_input(std::vector<Step>& path) const {
    while (!path.empty()) {
      Step& step = path.back();
      const Node& node = graph_.nodes[static_cast<size_t>(step.node)];
      while (step.next < node.inputs.size()) {
        const TensorId input = node.inputs[step.next++];
        if (input != kNoTensor && dims(input) == dims(node.outputs[0]) &&
            std::ranges::count(node.inputs, input) == 1)
          return input;
      }
      path.pop_back();
    }
    return std::nullopt;
  }

  bool changes_scores(const Node& node) const {
    const OpRow* row = find_op(node);
    const bool passes = row && (row->algebra == Algebra::add || row->algebra == Algebra::subtract ||
                                row->algebra == Algebra::multiply ||
                                row->algebra == Algebra::divide || row->algebra == Algebra::select);
    return passes && !node.folded && node.outputs.size() == 1;
  }

  /// Sizes; false where matrices are broadcast.
  bool take_sizes(Attention& a) const {
    const Node& scores = graph_.nodes[static_cast<size_t>(a.scores)];
    const Node& attended = graph_.nodes[static_cast<size_t>(a.attended)];
    const Dims &s = dims(scores.outputs[0]), &q = dims(scores.inputs[0]),
               &k = dims(scores.inputs[1]), &v = dims(attended.inputs[1]),
               &o = dims(attended.outputs[0]);
    const size_t rank = s.size();
    if (q.size() != rank || k.size() != rank || v.size() != rank || o.size() != rank) return false;
    for (size_t d = 0; d + 2 < rank; ++d)
      if (q[d] != s[d] || k[d] != s[d] || v[d] != s[d] || o[d] != s[d]) return false;
    a.keys = s[rank - 1];
    a.rows = s[rank - 2];
    a.matrices = elements(s, 0, rank - 2);
    a.depth = q[rank - 1];
    a.width = v[rank - 1];
    return elements(s) > 0 && a.depth > 0 && a.width > 0;
  }

  const Graph& graph_;
  const std::vector<std::vector<NodeId>> readers_;
};

}  // namespace

bool is_node(const Node& node, std::string_view op) {
  return node.domain.empty() && node.op_type == op && !node.folded && !node.absorbed;
}

bool is_along_last_axis(const NodeView& softmax) {
  constexpr int64_t kOfOneAxis = 13;  // before, all dims from the axis on were one row
  const bool one = softmax.opset() >= kOfOneAxis;
  const auto axis = axis_attr(softmax, one ? -1 : 1, softmax.rank(0));
  return axis && *axis == softmax.rank(0) - 1;
}

std::vector<Attention> find_attentions(const Graph& graph) {
  const Finder finder(graph);
  std::vector<Attention> out;
  std::set<NodeId> taken;  // what one attends to may be another one's scores
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    auto found = finder.attention_of(static_cast<NodeId>(i));
    if (!found || taken.contains(found->scores)) continue;
    taken.insert(found->attended);
    out.push_back(std::move(*found));
  }
  return out;
}

}  // namespace accsim::sim
