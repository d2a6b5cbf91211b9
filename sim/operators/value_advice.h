#pragma once
#include <string>

#include "sim/graph/graph.h"

namespace accsim::sim {

/// The option that makes a tensor's elements known: "--value limit=N (int64 scalar)", and where
/// they follow from few integer inputs of the graph and constants alone, from these:
/// "--value limit=N (int64 scalar), or --value k=... (int64 2)".
std::string value_advice(const Graph& graph, TensorId id);

}  // namespace accsim::sim
