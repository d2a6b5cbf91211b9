#include "python/src/module_model.h"

#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <set>

#include "python/src/compute.h"
#include "python/src/costing_keywords.h"
#include "python/src/errors.h"
#include "python/src/model.h"
#include "python/src/values.h"
#include "sim/cost/load_graph.h"
#include "sim/graph/model_def.h"
#include "sim/onnx/reader.h"

namespace nb = nanobind;

namespace accsim::python {
namespace {

/// The module's path and the operator's part of a name; a child that is called "layer1.0" below
/// "layer1" brings its parent's name along.
std::pair<std::string, std::string> split(const std::string& name) {
  std::string path, last;
  size_t at = 1;
  for (size_t slash = name.find('/', at); slash != std::string::npos;
       at = slash + 1, slash = name.find('/', at)) {
    const std::string part = name.substr(at, slash - at);
    if (!last.empty() && part.starts_with(last + "."))
      path += part.substr(last.size());
    else
      path += (path.empty() ? "" : ".") + part;
    last = part;
  }
  return {path, name.substr(at)};
}

bool is_constant(const std::string& name) { return split(name).second.starts_with("Constant"); }

/// Parameters that were exported as inputs become stored tensors without elements.
void store_weights(const std::set<std::string>& weights, sim::GraphDef& graph) {
  std::erase_if(graph.inputs, [&](const sim::ValueDef& input) {
    if (!weights.contains(input.name) || !input.dims) return false;
    sim::StoredTensor stored;
    stored.name = input.name;
    stored.dtype = input.dtype;
    for (const sim::DimDef& dim : *input.dims) stored.dims.push_back(dim.value);
    graph.initializers.push_back(std::move(stored));
    return true;
  });
}

void rename_nodes(sim::GraphDef& graph) {
  std::vector<std::string> names;
  for (const sim::NodeDef& node : graph.nodes) names.push_back(node.name);
  const std::vector<std::string> paths = module_paths(names);
  for (size_t i = 0; i < paths.size(); ++i) graph.nodes[i].name = paths[i];
}

Result<sim::Graph> read(const std::string& path, const std::set<std::string>& weights,
                        const sim::ElaborateOptions& options, const std::string& name) {
  Result<sim::ModelDef> model = sim::read_model(path);
  if (!model) return model.errors();
  model->file = name;
  store_weights(weights, model->graph);
  rename_nodes(model->graph);
  return load_graph(*model, options);
}

Model load_module(nb::handle path, std::set<std::string> weights, const std::string& name,
                  const nb::kwargs& words) {
  Model out;
  const sim::ElaborateOptions options = out.options =
      costing_options(words, sim::kLoadKeywords).elaborate;
  Result<sim::Graph> graph =
      compute([file = path_of(path), weights = std::move(weights), options,
               name](const std::atomic<bool>&) { return read(file, weights, options, name); });
  out.graph = std::make_shared<const sim::Graph>(unwrap(std::move(graph)));
  return out;
}

std::set<std::string> stored_names(const Model& model) {
  std::set<std::string> out;
  for (const sim::Tensor& tensor : model.graph->tensors) out.insert(tensor.name);
  return out;
}

/// Nodes with the names of the tensors that they make; those that the graph gives.
nb::tuple made(const Model& model) {
  const sim::Graph& graph = *model.graph;
  const auto names = [&](const std::vector<sim::TensorId>& ids) {
    nb::list out;
    for (const sim::TensorId id : ids)
      out.append(id == sim::kNoTensor ? nb::str("") : python_text(graph.tensor(id).name));
    return out;
  };
  nb::list nodes;
  for (const sim::Node& node : graph.nodes)
    nodes.append(nb::make_tuple(python_text(node.name), names(node.outputs)));
  return nb::make_tuple(nodes, names(graph.outputs));
}

}  // namespace

std::vector<std::string> module_paths(const std::vector<std::string>& names) {
  std::map<std::string, int> nodes;
  for (const std::string& name : names)
    if (name.starts_with('/') && !is_constant(name)) ++nodes[split(name).first];
  std::vector<std::string> out;
  std::set<std::string> taken;
  for (const std::string& name : names) {
    std::string path = name;
    if (name.starts_with('/')) {
      const auto [module, op] = split(name);
      const bool alone = !module.empty() && nodes[module] == 1 && !is_constant(name);
      path = module;
      if (!alone) path += (module.empty() ? "" : "/") + op;
    }
    if (!taken.insert(path).second) path = name;
    out.push_back(path);
  }
  return out;
}

void add_module_model(nb::module_& module) {
  module.def("_load_module", load_module, nb::arg("path"), nb::arg("weights"), nb::arg("name"),
             nb::arg("options"),
             nb::sig("def _load_module(path: object, weights: set[str], name: str, "
                     "**options: typing.Any) -> Model"));
  module.def("_stored_names", stored_names, nb::arg("model"));
  module.def("_made", made, nb::arg("model"),
             nb::sig("def _made(model: Model) -> "
                     "tuple[list[tuple[str, list[str]]], list[str]]"));
}

}  // namespace accsim::python
