#pragma once
#include <optional>

#include "sim/graph/graph.h"

namespace accsim::sim {

/// The graph without what only hands on its input (Identity, Dropout that drops nothing, Cast to
/// the type that it has): who reads the result reads the input. The node is absorbed; nodes and
/// tensors keep their ids. It stays where the graph gives its result, and a Dropout where anything
/// reads its mask.
Graph skip_handed_on(Graph graph);

/// Does a node cast between floats that a machine keeps alike, those of 16 bits and more?
bool is_float_cast(const Graph& graph, const Node& node);

/// As a machine sees it, which keeps floats of 16 bits and more alike: the graph without casts
/// between them, in the same way, and what it computes in the narrowest of their types; nothing
/// where it has none. Where the graph gives what was cast, the node before gives it. Constants stay
/// as they are stored: it is for costing, not for running.
std::optional<Graph> without_float_casts(const Graph& graph);

}  // namespace accsim::sim
