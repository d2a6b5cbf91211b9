#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/elaborate/elaborate.h"

namespace accsim::sim {

/// Names in order.
using Strings = std::vector<std::string>;

/// A node without a name, of ai.onnx.
inline NodeDef node(std::string op, Strings inputs, Strings outputs,
                    std::vector<Attribute> attributes = {}) {
  NodeDef def;
  def.op_type = std::move(op);
  def.inputs = std::move(inputs);
  def.outputs = std::move(outputs);
  def.attributes = std::move(attributes);
  return def;
}

/// A dense tensor that a graph declares.
inline ValueDef value(std::string name, std::vector<DimDef> dims, DType dtype = DType::float32) {
  return {std::move(name), dtype, std::move(dims), true};
}

/// An initializer whose elements are known.
inline StoredTensor integers(std::string name, Dims dims, std::vector<int64_t> values,
                             DType dtype = DType::int64) {
  StoredTensor tensor;
  tensor.name = std::move(name);
  tensor.dtype = dtype;
  tensor.dims = std::move(dims);
  tensor.value = std::make_shared<const ConstData>(std::move(values));
  return tensor;
}

/// An attribute that holds a subgraph.
inline Attribute graph_attribute(std::string name, GraphDef graph) {
  return {std::move(name), "", std::make_shared<const GraphDef>(std::move(graph))};
}

/// Input "x" (float32, 2 x n), output "y".
inline ModelDef model_of(std::vector<NodeDef> nodes, int64_t opset = 17) {
  ModelDef model;
  model.file = "m.onnx";
  model.ir_version = 8;
  model.opsets[""] = opset;
  model.graph.nodes = std::move(nodes);
  model.graph.inputs = {value("x", {{2, ""}, {-1, "n"}})};
  model.graph.outputs = {value("y", {})};
  return model;
}

/// All sizes that a model leaves open are 1.
inline ElaborateOptions ones(ElaborateOptions options = {}) {
  options.bindings.emplace(kAllOthers, 1);
  return options;
}

/// The first error of elaborating a model; "" when there is none.
inline std::string problem(const ModelDef& model, const ElaborateOptions& options = ones()) {
  const Result<Graph> graph = elaborate(model, options);
  return graph.ok() ? "" : graph.errors().front().text();
}

/// Whether a text has a part.
inline bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// The names of all nodes.
inline Strings node_names(const Graph& graph) {
  Strings names;
  for (const Node& n : graph.nodes) names.push_back(n.name);
  return names;
}

}  // namespace accsim::sim
