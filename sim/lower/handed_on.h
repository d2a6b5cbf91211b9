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

/// The graph as a machine sees it, to which all floats of 16 bits and more are alike. Casts between
/// them are gone, and the graph computes in the narrowest type of the floats. Nothing if it has no
/// such cast. If a cast was an output, the node before it gives the output. Constants stay as they
/// are stored, so the graph is for costing, not for running.
std::optional<Graph> without_float_casts(const Graph& graph);

}  // namespace accsim::sim
