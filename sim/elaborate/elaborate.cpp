#include "sim/elaborate/elaborate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/elaborate/budget.h"
#include "sim/elaborate/expander.h"
#include "sim/elaborate/graph_builder.h"
#include "sim/elaborate/model_inputs.h"
#include "sim/elaborate/node_label.h"
#include "sim/elaborate/origins.h"
#include "sim/elaborate/scope.h"
#include "sim/elaborate/unbound.h"

namespace accsim::sim {
namespace {

constexpr int64_t kOldestOpset = 7;
constexpr int64_t kOldestIr = 3;

Status check_versions(const ModelDef& model) {
  if (model.ir_version < kOldestIr)
    return Error{Errc::unsupported,
                 fmt::format("IR version {} is older than {}; export the model again",
                             model.ir_version, kOldestIr),
                 ""};
  if (model.graph.nodes.empty()) return Error{Errc::invalid, "the graph has no nodes", ""};
  const auto opset = model.opsets.find("");
  const bool uses_onnx = std::ranges::any_of(
      model.graph.nodes, [](const NodeDef& node) { return node.domain.empty(); });
  if (opset == model.opsets.end()) {
    if (!uses_onnx) return ok();
    return Error{Errc::invalid, "the model doesn't say which opset of ai.onnx it is written in",
                 ""};
  }
  if (opset->second < kOldestOpset)
    return Error{Errc::unsupported,
                 fmt::format("opset {} is older than {}; convert the model with "
                             "onnx.version_converter or export it again",
                             opset->second, kOldestOpset),
                 ""};
  return ok();
}

/// The graph without its tensors and nodes.
Graph start_graph(const ModelDef& model) {
  Graph graph;
  graph.name = model.graph.name;
  graph.file = model.file;
  graph.ir_version = model.ir_version;
  const auto opset = model.opsets.find("");
  graph.opset = opset == model.opsets.end() ? 0 : opset->second;
  graph.mapping = model.mapping;
  graph.metadata = model.metadata;
  return graph;
}

/// The graph's outputs, by the names that have come into `scope`.
Result<TensorIds> model_outputs(const GraphDef& graph, const Scope& scope) {
  TensorIds ids;
  for (const ValueDef& output : graph.outputs) {
    const TensorId* id = scope.find(output.name);
    if (id == nullptr)
      return Error{Errc::invalid, "no node, input or initializer gives it",
                   fmt::format("output '{}'", output.name)};
    ids.push_back(*id);
  }
  return ids;
}

/// Is every size that was given one of a node that asks for it?
Status check_sizes(const ElaborateOptions& options, const std::vector<Assumption>& assumed) {
  std::vector<std::string_view> names;
  for (const Assumption& a : assumed) names.push_back(a.node);
  Errors errors;
  for (const auto& [node, size] : options.sizes) {
    if (options.skip_unknown || std::ranges::find(names, node) != names.end()) continue;
    errors.push_back({Errc::usage,
                      fmt::format("--assume names '{}', but {}", node,
                                  names.empty() ? "the model has no size that only a run decides"
                                                : fmt::format("only a run decides sizes of {}",
                                                              fmt::join(names, ", "))),
                      ""});
  }
  if (!errors.empty()) return errors;
  return ok();
}

/// elaborate(), with errors that don't say the file. Says which symbols count as 1 by default.
Result<Elaborated> elaborate_model(const ModelDef& model, const ElaborateOptions& options,
                                   std::vector<std::string>& defaulted) {
  if (const Status versions = check_versions(model); !versions) return versions.errors();
  Budget budget;
  Graph start = start_graph(model);
  start.given_sizes = options.sizes;
  GraphBuilder builder(std::move(start), budget);
  Scope scope;
  scope.graph = &model.graph;
  Result<TensorIds> inputs = add_model_inputs(model, options, builder, scope);
  if (!inputs) return inputs.errors();
  defaulted = builder.graph().defaulted;
  if (const Status stored = add_initializers(model.graph, builder, scope); !stored)
    return stored.errors();
  Expander expander(model, options.allow_unsupported, builder, budget);
  if (const Status nodes = expander.expand(model.graph.nodes, scope); !nodes) return nodes.errors();
  if (const Status known = check_sizes(options, builder.graph().assumed); !known)
    return known.errors();
  Result<TensorIds> outputs = model_outputs(model.graph, scope);
  if (!outputs) return outputs.errors();
  Elaborated out{builder.finish(std::move(*inputs), std::move(*outputs)), expander.origins()};
  check(out.origins.size() == out.graph.nodes.size(), "a node of no node of the model");
  return out;
}

}  // namespace

Result<Elaborated> elaborate_with_origins(const ModelDef& model, const ElaborateOptions& options) {
  std::vector<std::string> defaulted;
  Result<Elaborated> made = elaborate_model(model, options, defaulted);
  if (made) return made;
  const auto fits = [&](const ElaborateOptions& other) {
    std::vector<std::string> ignored;
    return elaborate_model(model, other, ignored).ok();
  };
  return put_at(model.file, explain_unbound(made.errors(), defaulted, options, fits));
}

Result<Graph> elaborate(const ModelDef& model, const ElaborateOptions& options) {
  Result<Elaborated> made = elaborate_with_origins(model, options);
  if (!made) return made.errors();
  return std::move(made->graph);
}

}  // namespace accsim::sim
