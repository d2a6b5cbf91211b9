#include "sim/lower/pattern_matcher.h"

#include <algorithm>

#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

/// Below every score that a network has, by more than what exponentials of rows tell from 0.
constexpr double kFarBelow = -1000;

/// The same tensor as before, or the first there is.
bool bind_tensor(TensorId& to, TensorId tensor) {
  if (to != kNoTensor) return to == tensor;
  to = tensor;
  return true;
}

void add_once(NodeId node, std::vector<NodeId>& nodes) {
  if (std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
}

}  // namespace

bool PatternMatcher::is_scalar(TensorId tensor) const {
  const Tensor& t = graph_.tensor(tensor);
  return t.constant && elements(t.dims) == 1;
}

std::optional<double> PatternMatcher::scalar_value(TensorId tensor) const {
  const Tensor& t = graph_.tensor(tensor);
  if (!is_scalar(tensor) || !t.value) return std::nullopt;
  return t.value->as_double(0);
}

bool PatternMatcher::is_vector(NodeId node) const {
  const Layer* l = &lowered_.layers[static_cast<size_t>(node)];
  if (l->merged_into >= 0) l = &lowered_.layers[static_cast<size_t>(l->merged_into)];
  return l->fate == Fate::vector;
}

NodeId PatternMatcher::vector_producer(TensorId tensor) const {
  const NodeId producer = graph_.tensor(tensor).producer;
  if (producer == kNoNode) return kNoNode;
  const Node& node = graph_.nodes[static_cast<size_t>(producer)];
  return !node.folded && find_op(node) && is_vector(producer) ? producer : kNoNode;
}

bool PatternMatcher::is_conversion(NodeId id) const {
  const Node& node = graph_.nodes[static_cast<size_t>(id)];
  return find_op(node)->algebra == Algebra::convert &&
         is_float(graph_.tensor(node.inputs[0]).dtype) &&
         is_float(graph_.tensor(node.outputs[0]).dtype);
}

bool PatternMatcher::match_leaf(TensorId tensor, const PatternTerm& term,
                                PatternMatch& match) const {
  const bool constant = graph_.tensor(tensor).constant;
  switch (term.leaf) {
    case PatternLeaf::none:
      return false;
    case PatternLeaf::x:
      return !constant && graph_.tensor(tensor).dims == dims_ && bind_tensor(match.x, tensor);
    case PatternLeaf::gain:
      return constant && bind_tensor(match.gain, tensor);
    case PatternLeaf::shift:
      return constant && bind_tensor(match.shift, tensor);
    case PatternLeaf::epsilon:
      return is_scalar(tensor) && bind_tensor(match.epsilon, tensor);
    case PatternLeaf::scalar:
      return is_scalar(tensor);
    case PatternLeaf::mask:
    case PatternLeaf::kept:
      return bind_tensor(match.mask, tensor);
    case PatternLeaf::gone:
      return constant && bind_tensor(match.mask, tensor);
    case PatternLeaf::far_below:
      return scalar_value(tensor).value_or(0) < kFarBelow;
    case PatternLeaf::number:
      return scalar_value(tensor) == term.number;
  }
  return false;
}

bool PatternMatcher::match_inputs(const Node& node, const PatternTerm& term,
                                  PatternMatch& match) const {
  const size_t n = term.inputs.size();
  if (node.inputs.size() < n) return false;
  const auto in_order = [&](bool swapped) -> std::optional<PatternMatch> {
    PatternMatch trial = match;
    for (size_t i = 0; i < n; ++i) {
      const TensorId tensor = node.inputs[swapped ? n - 1 - i : i];
      if (tensor == kNoTensor || !match_term(tensor, term.inputs[i], trial)) return std::nullopt;
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

bool PatternMatcher::match_term(TensorId tensor, const PatternTerm& term,
                                PatternMatch& match) const {
  if (term.leaf != PatternLeaf::none) return match_leaf(tensor, term, match);
  if (term.operation == Algebra::none)
    return std::ranges::any_of(term.inputs,
                               [&](const PatternTerm& t) { return match_term(tensor, t, match); });
  std::vector<NodeId> conversions;  // a chain of them may be as long as the graph
  NodeId producer = vector_producer(tensor);
  while (producer != kNoNode && is_conversion(producer)) {
    conversions.push_back(producer);
    tensor = graph_.nodes[static_cast<size_t>(producer)].inputs[0];
    producer = vector_producer(tensor);
  }
  if (producer == kNoNode) return false;
  const Node& node = graph_.nodes[static_cast<size_t>(producer)];
  PatternMatch trial = match;
  if (find_op(node)->algebra != term.operation || !match_inputs(node, term, trial)) return false;
  if (term.operation == Algebra::mean && !bind_tensor(trial.mean, tensor)) {
    // Means of the same dims are of the same axes.
    if (graph_.tensor(trial.mean).dims != graph_.tensor(tensor).dims) return false;
  }
  add_once(producer, trial.nodes);
  for (size_t i = conversions.size(); i-- > 0;) add_once(conversions[i], trial.nodes);
  match = std::move(trial);
  return true;
}

}  // namespace accsim::sim
