#pragma once
#include "sim/lower/pattern_terms.h"
#include "sim/lower/patterns.h"

namespace accsim::sim {

/// Finds terms of patterns in a graph.
class PatternMatcher {
 public:
  /// `dims` are of the result, and of what it is of.
  PatternMatcher(const Graph& graph, const Lowered& lowered, const Dims& dims)
      : graph_(graph), lowered_(lowered), dims_(dims) {}

  /// Is the tensor what the term says? What has been found is added to the match, unless not; of
  /// two ways to find a sum or product that of more nodes.
  bool match_term(TensorId tensor, const PatternTerm& term, PatternMatch& match) const;

 private:
  bool match_leaf(TensorId tensor, const PatternTerm& term, PatternMatch& match) const;
  bool match_inputs(const Node& node, const PatternTerm& term, PatternMatch& match) const;
  bool is_scalar(TensorId tensor) const;
  /// Is the node vector work, by itself or merged into that of another?
  bool is_vector(NodeId node) const;
  /// The node that makes the tensor, where that is vector work; kNoNode: none.
  NodeId vector_producer(TensorId tensor) const;
  /// Does it only change reals to another type of reals?
  bool is_conversion(NodeId node) const;
  /// Of a constant of one element that is known.
  std::optional<double> scalar_value(TensorId tensor) const;

  const Graph& graph_;
  const Lowered& lowered_;
  const Dims& dims_;
};

}  // namespace accsim::sim
