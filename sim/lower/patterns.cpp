#include "sim/lower/patterns.h"

#include <algorithm>
#include <array>

#include "sim/base/sums.h"
#include "sim/lower/logarithms.h"
#include "sim/lower/pattern_matcher.h"
#include "sim/operators/norm/row_rules.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

/// Do all dims, right-aligned, equal those of `to` or broadcast to them?
bool goes_with(const Dims& dims, const Dims& to) { return broadcast_dims(dims, to) == to; }

/// Dim i of `dims` when both end together; 1 in front of them.
int64_t aligned_dim(const Dims& dims, size_t i, size_t rank) {
  return i + dims.size() < rank ? 1 : dims[i + dims.size() - rank];
}

class Patterns {
 public:
  Patterns(const Graph& graph, const Lowered& lowered)
      : graph_(graph), lowered_(lowered), logarithms_(softmax_logarithms(graph, lowered.readers)) {}

  std::optional<PatternMatch> match_ending_at(NodeId last) const {
    const Node& node = graph_.nodes[static_cast<size_t>(last)];
    const Layer& l = lowered_.layers[static_cast<size_t>(last)];
    if (l.fate != Fate::vector || l.outputs != node.outputs || node.outputs.size() != 1)
      return std::nullopt;
    const PatternMatcher matcher(graph_, lowered_, dims(node.outputs[0]));
    for (const Pattern& pattern : row_patterns()) {
      PatternMatch m;
      m.kind = pattern.kind;
      if (!matcher.match_term(node.outputs[0], pattern.term, m)) continue;
      if (m.nodes.back() == last && m.nodes.size() > 1 && dims_fit(m) && is_closed(m)) return m;
    }
    return std::nullopt;
  }

  RowMeaning meaning_of_match(const PatternMatch& m) const {
    return m.kind == RowKind::softmax ? softmax_meaning(m) : norm_meaning(m);
  }

 private:
  const Dims& dims(TensorId id) const { return graph_.tensor(id).dims; }

  /// Do the shapes make it rows of x?
  bool dims_fit(const PatternMatch& m) const {
    const Dims& x = dims(m.x);
    if (x.empty() || elements(x) == 0) return false;
    if (m.mean != kNoTensor && dims(m.mean).size() != x.size()) return false;
    if (m.kind == RowKind::softmax && !softmax_rows(m)) return false;
    return std::ranges::all_of(std::array{m.gain, m.shift, m.mask}, [&](TensorId id) {
      return id == kNoTensor || goes_with(dims(id), x);
    });
  }

  /// Is nothing between the nodes read elsewhere, an output, or part of another layer?
  bool is_closed(const PatternMatch& m) const {
    const auto is_mine = [&](NodeId id) { return std::ranges::find(m.nodes, id) != m.nodes.end(); };
    const auto is_within = [&](NodeId id) { return is_mine(id) || logarithms_.contains(id); };
    return std::ranges::all_of(m.nodes, [&](NodeId id) {
      const Layer& l = lowered_.layers[static_cast<size_t>(id)];
      if (l.merged_into >= 0 && !is_mine(l.merged_into)) return false;
      if (id == m.nodes.back()) return true;
      const auto& outputs = graph_.nodes[static_cast<size_t>(id)].outputs;
      return std::ranges::all_of(outputs, [&](TensorId t) {
        if (t == kNoTensor) return true;
        const bool is_output = std::ranges::find(graph_.outputs, t) != graph_.outputs.end();
        return !is_output &&
               std::ranges::all_of(lowered_.readers[static_cast<size_t>(t)], is_within);
      });
    });
  }

  /// The rows of the softmax itself; behind it conversions to other types of reals may come.
  std::optional<RowMeaning> softmax_rows(const PatternMatch& m) const {
    for (auto id = m.nodes.rbegin(); id != m.nodes.rend(); ++id) {
      const Node& node = graph_.nodes[static_cast<size_t>(*id)];
      const OpRow* row = find_op(node);
      if (row && row->rows) return row->rows(NodeView(graph_, node));
    }
    return std::nullopt;
  }

  RowMeaning softmax_meaning(const PatternMatch& m) const {
    RowMeaning out = *softmax_rows(m);
    if (m.mask == kNoTensor) return out;
    out.mask_port = 1;
    add_mask(dims(m.mask), out);
    return out;
  }

  RowMeaning norm_meaning(const PatternMatch& m) const {
    const Dims &x = dims(m.x), &mean = dims(m.mean);
    RowMeaning out = row_meaning(m.kind, x, 0, 0, false);
    bool second = x.size() > 2;  // channels are dim 1 alone, as convolutions have them
    for (size_t i = 0; i < x.size(); ++i) {
      RowAxis& a = out.axes[i];
      a.reduced = mean[i] == 1;
      for (const TensorId id : {m.gain, m.shift})
        if (id != kNoTensor && aligned_dim(dims(id), i, x.size()) > 1) a.channel = true;
      second = second && a.channel == (i == 1);
    }
    if (second) out.channel_axes = 1;
    return out;
  }

  const Graph& graph_;
  const Lowered& lowered_;
  /// What takes the logarithm beside a softmax is part of it.
  const std::map<NodeId, NodeId> logarithms_;
};

/// All operations of the nodes.
VectorOp all_of(const PatternMatch& m, const Lowered& lowered) {
  VectorOp out;
  for (const NodeId id : m.nodes)
    for (const WorkItem& item : lowered.layers[static_cast<size_t>(id)].work)
      if (const auto* op = std::get_if<VectorOp>(&item))
        for (size_t c = 0; c < kVectorClasses; ++c) out.ops[c] = add_counts(out.ops[c], op->ops[c]);
  return out;
}

void merge_match(const PatternMatch& m, const RowMeaning& meaning, const Graph& graph,
                 Lowered& lowered) {
  VectorOp op = all_of(m, lowered);
  const NodeId last = m.nodes.back();
  for (const NodeId id : m.nodes) {
    Layer& l = lowered.layers[static_cast<size_t>(id)];
    l.work.clear();
    l.function = {};
    l.in_function = false;
    if (id == last) continue;
    l.fate = Fate::folded;
    l.merged_into = static_cast<int>(last);
  }
  Layer& l = lowered.layers[static_cast<size_t>(last)];
  l.inputs.clear();
  for (const TensorId id : {m.x, m.mask, m.gain, m.shift}) {
    if (id == kNoTensor) continue;
    op.inputs.push_back({static_cast<int>(l.inputs.size()), elements(graph.tensor(id).dims), 0});
    l.inputs.push_back(id);
  }
  op.outputs.push_back({0, elements(graph.tensor(l.outputs[0]).dims), 0});
  int64_t length = 1;
  for (const RowAxis& a : meaning.axes)
    if (a.reduced) length *= a.count;
  op.row = length;
  op.passes = m.kind == RowKind::rms_norm ? 2 : 3;
  l.rows = meaning;
  l.work.emplace_back(std::move(op));
}

}  // namespace

std::optional<PatternMatch> match_pattern(const Graph& graph, const Lowered& lowered, NodeId last) {
  return Patterns(graph, lowered).match_ending_at(last);
}

void merge_patterns(const Graph& graph, Lowered& lowered) {
  const Patterns all(graph, lowered);
  // From the end, so that the largest one comes first: what is part of it no longer stands alone.
  for (NodeId id = static_cast<NodeId>(graph.nodes.size()); id-- > 0;)
    if (const auto m = all.match_ending_at(id))
      merge_match(*m, all.meaning_of_match(*m), graph, lowered);
}

}  // namespace accsim::sim
