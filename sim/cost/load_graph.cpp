#include "sim/cost/load_graph.h"

#include <utility>

#include "sim/cost/cost.h"
#include "sim/onnx/reader.h"

namespace accsim::sim {

Result<Graph> load_graph(const ModelDef& model, const ElaborateOptions& options) {
  Result<Graph> graph = elaborate(model, options);
  if (!graph) return graph.errors();
  graph = costed_graph(std::move(*graph), options);
  if (!graph) return graph;
  if (const Status good = verify(*graph); !good) return good.errors();
  return graph;
}

Result<Graph> load_graph(std::shared_ptr<const std::string> bytes, const std::string& name,
                         const ElaborateOptions& options) {
  const Result<ModelDef> model = read_model_bytes(std::move(bytes), name);
  if (!model) return model.errors();
  return load_graph(*model, options);
}

}  // namespace accsim::sim
