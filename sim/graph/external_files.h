#pragma once
#include <set>
#include <string>

#include "sim/graph/model_def.h"

namespace accsim::sim {

/// The files beside a model that hold elements of its tensors, wherever these stand: among the
/// initializers of the graph, of graphs within it and of functions, or in attributes of nodes.
std::set<std::string> external_files(const ModelDef& model);

}  // namespace accsim::sim
