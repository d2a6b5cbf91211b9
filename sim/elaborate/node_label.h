#pragma once
#include <string>

#include "sim/base/result.h"
#include "sim/graph/graph.h"
#include "sim/graph/model_def.h"

namespace accsim::sim {

/// Name of node `i` of a list: its own, or "<op_type>_<i>", behind "<module>/" where it is stated.
std::string node_name(const NodeDef& node, size_t i);
/// "node 'NAME' (op Domain::Type)"; the domain is left out for ai.onnx.
std::string node_label(const NodeDef& node, const std::string& name);
/// The same of a node of the graph.
std::string node_label(const Node& node);

/// The errors with `place` put before where each of them is.
Errors put_at(const std::string& place, Errors errors);

}  // namespace accsim::sim
