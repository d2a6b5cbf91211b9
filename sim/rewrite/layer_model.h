#pragma once
#include <map>
#include <string>

#include "sim/graph/graph.h"

namespace accsim::sim {

/// The bytes of a model of one node of a graph, under its names and in its opset. Tensors that it
/// reads are stored where `elements` has theirs (as TensorProto::raw_data has them), else they are
/// inputs; what it writes are the outputs. Errors: an attribute that can't
/// be written, 2 GiB or more.
Result<std::string> layer_model(const Graph& graph, const Node& node,
                                const std::map<TensorId, std::string>& elements);

}  // namespace accsim::sim
