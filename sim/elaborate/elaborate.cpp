#include "sim/elaborate/elaborate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/elaborate/budget.h"
#include "sim/elaborate/expander.h"
#include "sim/elaborate/given_values.h"
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
  if (model.graph.nodes.empty() && model.graph.outputs.empty())
    return Error{Errc::invalid, "the graph has no nodes and no outputs", ""};
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

/// The graph's outputs, by the names that have come into `scope`; of a sequence its tensors, of an
/// optional what is in it.
Result<TensorIds> model_outputs(const GraphDef& graph, const Scope& scope,
                                const GraphBuilder& builder) {
  TensorIds ids;
  for (const ValueDef& output : graph.outputs) {
    const TensorId* id = scope.find(output.name);
    if (id == nullptr)
      return Error{Errc::invalid, "no node, input or initializer gives it",
                   fmt::format("output '{}'", output.name)};
    if (*id == kNoTensor) continue;  // an empty optional
    if (const TensorIds* tensors = builder.find_sequence(*id))
      ids.insert(ids.end(), tensors->begin(), tensors->end());
    else
      ids.push_back(*id);
  }
  return ids;
}

/// What the names that have come into the main graph's scope stand for.
std::map<std::string, TensorId> known_names(const Scope& scope, const GraphBuilder& builder) {
  std::map<std::string, TensorId> out;
  for (const auto& [name, id] : scope.names)
    out.emplace(name, builder.find_sequence(id) == nullptr ? id : kNoTensor);
  return out;
}

/// What messages call an option that answers what only a run decides, and what it answers.
struct Answers {
  const char *option, *one, *all;
};

/// Errors of the answers that no node asks for.
template <class T>
void check_asked(const std::map<std::string, T>& given, const std::vector<std::string_view>& asking,
                 const Answers& what, Errors& errors) {
  for (const auto& [node, answer] : given)
    if (std::ranges::find(asking, node) == asking.end())
      errors.push_back(
          {Errc::usage,
           fmt::format(
               "{} names '{}', but {}", what.option, node,
               asking.empty()
                   ? fmt::format("the model has no {} that only a run decides", what.one)
                   : fmt::format("only a run decides {} of {}", what.all, fmt::join(asking, ", "))),
           ""});
}

/// Is every size and branch that was given one of a node that asks for it?
Status check_given(const ElaborateOptions& options, const std::vector<Assumption>& assumed) {
  if (options.skip_unknown) return ok();
  std::vector<std::string_view> sizes, branches;
  for (const Assumption& a : assumed) (a.branch.empty() ? sizes : branches).push_back(a.node);
  Errors errors;
  check_asked(options.sizes, sizes, {"--assume", "size", "sizes"}, errors);
  check_asked(options.branches, branches, {"--branch", "branch", "branches"}, errors);
  if (!errors.empty()) return errors;
  return ok();
}

/// The errors, and one more for each size or branch that no node has asked for until then: what
/// was meant for the node that fails isn't taken silently.
Errors with_unasked(Errors errors, const ElaborateOptions& options, const Graph& graph) {
  if (options.skip_unknown) return errors;
  const auto note = [&](const char* option, const std::string& node) {
    if (std::ranges::find(graph.assumed, node, &Assumption::node) != graph.assumed.end()) return;
    errors.push_back(
        {Errc::usage,
         fmt::format("{} names '{}', of which nothing was assumed before that error", option, node),
         ""});
  };
  for (const auto& size : options.sizes) note("--assume", size.first);
  for (const auto& branch : options.branches) note("--branch", branch.first);
  return errors;
}

/// What is known of an elaboration that failed, too.
struct Attempt {
  std::vector<std::string> defaulted{};  ///< symbols that count as 1 by default
  ModelInputs inputs{};
  std::vector<std::string> open{};  ///< sizes that nobody gave: it ended at them
  Budget budget{};
};

/// Adds the model's inputs with their sizes.
Result<TensorIds> bind_inputs(const ModelDef& model, const ElaborateOptions& options,
                              Attempt& attempt, GraphBuilder& builder, Scope& scope) {
  Result<ModelInputs> inputs = model_inputs(model, options);
  if (!inputs) return inputs.errors();
  for (const ValueDef* input : inputs->free)
    if (input->dims && given_shape(*input, options) == nullptr)
      if (const Status few = attempt.budget.check_rank(input->name, input->dims->size()); !few)
        return few.errors();
  Result<BoundInputs> bound = bind_symbols(inputs->free, options);
  if (!bound) return bound.errors();
  attempt.inputs = std::move(*inputs);
  attempt.defaulted = bound->defaulted;
  attempt.open = bound->open;
  if (!attempt.open.empty()) return Error{Errc::usage, "sizes weren't given", ""};
  return add_model_inputs(options, attempt.inputs, std::move(*bound), builder, scope);
}

/// Leaves what the options cut out.
Status apply_cut(const GraphCut& cut, Elaborated& made) {
  if (cut.empty()) return ok();
  const Result<std::vector<NodeId>> left = cut_graph(made.graph, cut);
  if (!left) return left.errors();
  std::vector<size_t> origins;
  for (const NodeId id : *left) origins.push_back(made.origins[static_cast<size_t>(id)]);
  made.origins = std::move(origins);
  return ok();
}

/// elaborate(), with errors that don't say the file.
Result<Elaborated> elaborate_model(const ModelDef& model, const ElaborateOptions& options,
                                   Attempt& attempt) {
  if (const Status versions = check_versions(model); !versions) return versions.errors();
  if (!options.skip_unknown)
    if (const Status names = check_value_names(options.values, model); !names)
      return names.errors();
  Budget& budget = attempt.budget;
  Graph start = start_graph(model);
  start.given_sizes = options.sizes;
  start.given_branches = options.branches;
  start.given_values = options.values;
  GraphBuilder builder(std::move(start), budget);
  Scope scope;
  scope.graph = &model.graph;
  Result<TensorIds> inputs = bind_inputs(model, options, attempt, builder, scope);
  if (!inputs) return inputs.errors();
  if (const Status stored = add_initializers(model.graph, builder, scope); !stored)
    return stored.errors();
  Expander expander(model, options, builder, budget);
  if (const Status nodes = expander.expand_nodes(model.graph.nodes, scope); !nodes)
    return with_unasked(nodes.errors(), options, builder.graph());
  if (const Status known = check_given(options, builder.graph().assumed); !known)
    return known.errors();
  if (!options.skip_unknown)
    if (const Status used = check_values_used(builder.graph(), builder.given(), builder.asked());
        !used)
      return used.errors();
  Result<TensorIds> outputs = model_outputs(model.graph, scope, builder);
  if (!outputs) return outputs.errors();
  std::map<std::string, TensorId> names;
  if (options.cut.empty()) names = known_names(scope, builder);
  Elaborated out{builder.finish_graph(std::move(*inputs), std::move(*outputs)), expander.origins(),
                 std::move(names)};
  check(out.origins.size() == out.graph.nodes.size(), "a node of no node of the model");
  if (const Status s = apply_cut(options.cut, out); !s) return s.errors();
  return out;
}

}  // namespace

Result<Elaborated> elaborate_with_origins(const ModelDef& model, const ElaborateOptions& options) {
  const auto own_nodes = static_cast<int64_t>(model.graph.nodes.size());
  Attempt attempt{.budget = Budget(options.limits, own_nodes)};
  Result<Elaborated> made = elaborate_model(model, options, attempt);
  if (made) return made;
  int64_t left = kMostHintSteps;
  const auto try_again = [&](const ElaborateOptions& other) -> Errors {
    if (left <= 0) return {{Errc::capacity, "enough was tried", ""}};
    Attempt tried{.budget = Budget(options.limits, own_nodes)};
    const Result<Elaborated> again = elaborate_model(model, other, tried);
    left -= tried.budget.steps_taken() + 1;
    return again ? Errors() : again.errors();
  };
  return put_at(model.file, attempt.open.empty() ? explain_unbound(made.errors(), attempt.defaulted,
                                                                   options, try_again)
                                                 : ask_for_sizes(model.graph, attempt.inputs.free,
                                                                 attempt.open, options, try_again));
}

Result<Graph> elaborate(const ModelDef& model, const ElaborateOptions& options) {
  Result<Elaborated> made = elaborate_with_origins(model, options);
  if (!made) return made.errors();
  return std::move(made->graph);
}

}  // namespace accsim::sim
