#pragma once
#include <optional>
#include <vector>

#include "sim/lower/lower.h"

namespace accsim::sim {

/// Nodes that spell out one operation on rows: a normalisation, or a softmax with a factor and an
/// addend or a choice before it.
struct PatternMatch {
  RowKind kind = RowKind::softmax;
  TensorId x = kNoTensor;     ///< what it is of
  TensorId mean = kNoTensor;  ///< norms: any of the means, whose dims say what a row is
  TensorId gain = kNoTensor, shift = kNoTensor;  ///< constants, or kNoTensor
  TensorId epsilon = kNoTensor;                  ///< norms: a constant of one element
  TensorId mask = kNoTensor;                     ///< softmax: added, or says what is chosen
  std::vector<NodeId> nodes;                     ///< all of them, the last one last
};

/// The pattern of the table that ends in node `last`, the largest there is; nothing when a tensor
/// between its nodes is read elsewhere, or has been merged into something else.
std::optional<PatternMatch> match_pattern(const Graph& graph, const Lowered& lowered, NodeId last);

/// Makes of each pattern one vector layer, its last node's, into which the others are merged: it
/// does all their operations, and reads and writes what comes in and goes out.
void merge_patterns(const Graph& graph, Lowered& lowered);

}  // namespace accsim::sim
