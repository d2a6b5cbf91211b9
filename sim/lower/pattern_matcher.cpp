#include "sim/lower/pattern_matcher.h"

#include <algorithm>

#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

/// Below every score that a network has, by more than what exponentials of rows tell from 0.
constexpr double kFarBelow = -1000;

/// The same tensor as before, or the first there is.
bool bind(TensorId& to, TensorId tensor) {
  if (to != kNoTensor) return to == tensor;
  to = tensor;
  return true;
}

bool is_float_convert(const Graph& graph, const Node& node) {
  return is_float(graph.tensor(node.inputs[0]).dtype) &&
         is_float(graph.tensor(node.outputs[0]).dtype);
}

}  // namespace

bool PatternMatcher::is_scalar(TensorId tensor) const {
  const Tensor& t = graph_.tensor(tensor);
  return t.constant && elements(t.dims) == 1;
}

std::optional<double> PatternMatcher::value(TensorId tensor) const {
  const Tensor& t = graph_.tensor(tensor);
  if (!is_scalar(tensor) || !t.value) return std::nullopt;
  return t.value->as_double(0);
}

bool PatternMatcher::is_vector(NodeId node) const {
  const Layer* l = &lowered_.layers[static_cast<size_t>(node)];
  if (l->merged_into >= 0) l = &lowered_.layers[static_cast<size_t>(l->merged_into)];
  return l->fate == Fate::vector;
}

bool PatternMatcher::leaf(TensorId tensor, const PatternTerm& term, PatternMatch& match) const {
  const bool constant = graph_.tensor(tensor).constant;
  switch (term.leaf) {
    case PatternLeaf::none:
      return false;
    case PatternLeaf::x:
      return !constant && graph_.tensor(tensor).dims == dims_ && bind(match.x, tensor);
    case PatternLeaf::gain:
      return constant && bind(match.gain, tensor);
    case PatternLeaf::shift:
      return constant && bind(match.shift, tensor);
    case PatternLeaf::epsilon:
      return is_scalar(tensor) && bind(match.epsilon, tensor);
    case PatternLeaf::scalar:
      return is_scalar(tensor);
    case PatternLeaf::mask:
    case PatternLeaf::kept:
      return bind(match.mask, tensor);
    case PatternLeaf::gone:
      return constant && bind(match.mask, tensor);
    case PatternLeaf::far_below:
      return value(tensor).value_or(0) < kFarBelow;
    case PatternLeaf::number:
      return value(tensor) == term.number;
  }
  return false;
}

bool PatternMatcher::inputs(const Node& node, const PatternTerm& term, PatternMatch& match) const {
  const size_t n = term.inputs.size();
  if (node.inputs.size() < n) return false;
  const auto in_order = [&](bool swapped) -> std::optional<PatternMatch> {
    PatternMatch trial = match;
    for (size_t i = 0; i < n; ++i) {
      const TensorId tensor = node.inputs[swapped ? n - 1 - i : i];
      if (tensor == kNoTensor || !find(tensor, term.inputs[i], trial)) return std::nullopt;
    }
    return trial;
  };
  std::optional<PatternMatch> best = in_order(false);
  if (term.operation == Algebra::add || term.operation == Algebra::multiply) {
    std::optional<PatternMatch> other = in_order(true);
    if (other && (!best || other->nodes.size() > best->nodes.size())) best = std::move(other);
  }
  if (best) match = std::move(*best);
  return best.has_value();
}

bool PatternMatcher::find(TensorId tensor, const PatternTerm& term, PatternMatch& match) const {
  if (term.leaf != PatternLeaf::none) return leaf(tensor, term, match);
  if (term.operation == Algebra::none)
    return std::ranges::any_of(term.inputs,
                               [&](const PatternTerm& t) { return find(tensor, t, match); });
  const NodeId producer = graph_.tensor(tensor).producer;
  if (producer == kNoNode) return false;
  const Node& node = graph_.nodes[static_cast<size_t>(producer)];
  const OpRow* row = find_op(node);
  if (node.folded || !row || !is_vector(producer)) return false;
  PatternMatch trial = match;
  const bool converts = row->algebra == Algebra::convert && is_float_convert(graph_, node);
  if (converts) {
    if (!find(node.inputs[0], term, trial)) return false;
  } else {
    if (row->algebra != term.operation || !inputs(node, term, trial)) return false;
    if (term.operation == Algebra::mean && !bind(trial.mean, tensor)) {
      // Means of the same dims are of the same axes.
      if (graph_.tensor(trial.mean).dims != graph_.tensor(tensor).dims) return false;
    }
  }
  if (std::ranges::find(trial.nodes, producer) == trial.nodes.end())
    trial.nodes.push_back(producer);
  match = std::move(trial);
  return true;
}

}  // namespace accsim::sim
