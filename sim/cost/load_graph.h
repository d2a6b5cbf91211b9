#pragma once
#include <memory>
#include <string>

#include "sim/base/result.h"
#include "sim/elaborate/elaborate.h"
#include "sim/graph/graph.h"
#include "sim/graph/model_def.h"

namespace accsim::sim {

/// What is costed of a model that was read: a flat graph with every shape known. load_graph() of a
/// file is in cost.h.
Result<Graph> load_graph(const ModelDef& model, const ElaborateOptions& options);
/// The same of a model's bytes, called `name` in messages; the graph keeps them
/// (read_model_bytes()).
Result<Graph> load_graph(std::shared_ptr<const std::string> bytes, const std::string& name,
                         const ElaborateOptions& options);

}  // namespace accsim::sim
