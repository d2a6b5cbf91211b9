#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "sim/elaborate/elaborate.h"

namespace accsim::sim {

/// A graph, and which nodes of the model its nodes stand for.
struct Elaborated {
  Graph graph;
  /// By node of the graph: index of the node in ModelDef::graph.nodes that it is, or whose function
  /// or body it is a part of. Nodes of the model may stand for none or many.
  std::vector<size_t> origins;
  /// What names of the model's main graph stand for; kNoTensor: a sequence. Empty where the options
  /// cut the graph.
  std::map<std::string, TensorId> names{};
};

/// elaborate() that remembers where nodes come from.
Result<Elaborated> elaborate_with_origins(const ModelDef& model, const ElaborateOptions& options);

}  // namespace accsim::sim
