#pragma once
#include <memory>
#include <string>
#include <vector>

#include "sim/base/result.h"
#include "sim/elaborate/elaborate.h"
#include "sim/graph/graph.h"
#include "sim/graph/model_def.h"

namespace accsim::sim {

/// The graph as it is costed: on real numbers, and with padding left to the windows that read it,
/// unless the file's own is wanted. Attention is in blocks of keys if options ask for it.
/// Errc::usage where none is long enough.
Result<Graph> costed_graph(Graph graph, const ElaborateOptions& options);
/// File -> ModelDef -> costed_graph() with every shape known, and without casts between floats
/// (without_float_casts()) unless the file's own is wanted.
Result<Graph> load_graph(const std::string& path, const ElaborateOptions& options);
/// The same of several files, in their order. A binding or an input's shape must be known to one of
/// them; the others are read without it. All errors of all files.
Result<std::vector<Graph>> load_graphs(const std::vector<std::string>& paths,
                                       const ElaborateOptions& options);
/// load_graph() of a model that was read.
Result<Graph> load_graph(const ModelDef& model, const ElaborateOptions& options);
/// The same of a model's bytes, called `name` in messages; the graph keeps them
/// (read_model_bytes()).
Result<Graph> load_graph(std::shared_ptr<const std::string> bytes, const std::string& name,
                         const ElaborateOptions& options);

}  // namespace accsim::sim
