#pragma once
#include <optional>
#include <vector>

#include "sim/graph/graph.h"

namespace accsim {

/// The elements of a stored tensor, row-major, when its bytes are there: in the model file or in an
/// external file beside it. nullopt when they are absent or not plain numbers. This is the one place
/// that reads weights; costing never does.
std::optional<std::vector<double>> read_weights(const Graph& graph, const Tensor& tensor);

}  // namespace accsim
