#pragma once
#include "sim/graph/graph.h"

namespace accsim::sim {

/// The graph without what only hands on its input (Identity, Dropout that drops nothing, Cast to
/// the type that it has): who reads the result reads the input. The node is absorbed; nodes and
/// tensors keep their ids. It stays where the graph gives its result, and a Dropout where anything
/// reads its mask.
Graph skip_handed_on(Graph graph);

}  // namespace accsim::sim
