#pragma once
#include <string>

#include "sim/graph/graph.h"

namespace accsim::sim {

/// Columns of a shape, at most.
inline constexpr size_t kShapeMost = 24;

/// {tensor: [dtype, dims]} of every node output, in graph order.
std::string shapes_json(const Graph& graph);
/// The same as aligned text, with the node's operator.
/// No line is wider than `width` (at least 60).
std::string shapes_text(const Graph& graph, size_t width);

}  // namespace accsim::sim
