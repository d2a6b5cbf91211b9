#include "sim/cost/load_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/lower/attention_blocks.h"
#include "sim/lower/handed_on.h"
#include "sim/lower/image_turns.h"
#include "sim/lower/pads.h"
#include "sim/lower/plain_forms.h"
#include "sim/lower/real_graph.h"
#include "sim/onnx/reader.h"

namespace accsim::sim {
namespace {

Error no_long_attention(const std::string& of, int64_t keys) {
  return {Errc::usage,
          fmt::format("no attention of {} is over at least {} keys and spelled out as MatMul, "
                      "Softmax along its last axis and MatMul",
                      of, 2 * keys),
          "--key-blocks"};
}

/// The form of a graph that is costed, whoever wrote it.
Graph one_form(Graph graph) {
  return plain_forms(absorb_pads(sink_image_turns(real_graph(std::move(graph)))));
}

}  // namespace

Result<Graph> costed_graph(Graph graph, const ElaborateOptions& options) {
  if (!options.as_written) graph = one_form(skip_handed_on(std::move(graph)));
  graph.keeps_attention = options.key_blocks.has_value();
  const int64_t keys = options.key_blocks.value_or(0);
  if (keys == 0) return graph;
  if (const int64_t nodes = nodes_in_key_blocks(graph, keys); nodes > options.limits.nodes)
    return Error{Errc::capacity,
                 fmt::format("blocks of {} keys make up to {} nodes, at most {} are made; {} N "
                             "takes N, larger blocks are fewer",
                             keys, nodes, options.limits.nodes, kNodesOption),
                 "--key-blocks"};
  Graph blocks = in_key_blocks(graph, keys);
  if (blocks.key_blocks == 0)  // attention in half precision has casts around its softmax
    if (const std::optional<Graph> plain = without_float_casts(graph))
      blocks = in_key_blocks(*plain, keys);
  if (blocks.key_blocks == 0 && !options.skip_unknown)
    return no_long_attention("'" + graph.file + "'", keys);
  return blocks;
}

Result<Graph> load_graph(const std::string& path, const ElaborateOptions& options) {
  const Result<ModelDef> model = read_model(path);
  if (!model) return model.errors();
  return load_graph(*model, options);
}

namespace {

/// What the options name and none of several models has.
Errors named_by_none(const std::vector<Graph>& graphs, const ElaborateOptions& options) {
  Errors errors;
  const auto nobody_has = [&](const auto& of, const std::string& what) {
    if (std::ranges::none_of(graphs, of))
      errors.push_back({Errc::usage, "no model has " + what, ""});
  };
  for (const auto& binding : options.bindings)
    if (binding.first != kAllOthers)
      nobody_has([&](const Graph& g) { return g.bindings.contains(binding.first); },
                 fmt::format("a symbol '{}' to bind", binding.first));
  for (const auto& shape : options.input_shapes)
    nobody_has(
        [&](const Graph& g) {
          return std::ranges::any_of(g.inputs,
                                     [&](TensorId t) { return g.tensor(t).name == shape.first; });
        },
        fmt::format("an input '{}' to give a shape to", shape.first));
  for (const auto& value : options.values)
    nobody_has(
        [&](const Graph& g) {
          return std::ranges::any_of(g.tensors,
                                     [&](const Tensor& t) { return t.name == value.first; });
        },
        fmt::format("a tensor '{}' to give a value to", value.first));
  for (const auto& size : options.sizes)
    nobody_has(
        [&](const Graph& g) {
          return std::ranges::any_of(g.assumed,
                                     [&](const Assumption& a) { return a.node == size.first; });
        },
        fmt::format("a size of '{}' to assume", size.first));
  return errors;
}

}  // namespace

Result<std::vector<Graph>> load_graphs(const std::vector<std::string>& paths,
                                       const ElaborateOptions& options) {
  std::vector<Graph> out;
  Errors errors;
  ElaborateOptions each = options;
  each.skip_unknown = options.skip_unknown || paths.size() > 1;
  for (const std::string& path : paths) {
    auto graph = load_graph(path, each);
    if (graph)
      out.push_back(std::move(*graph));
    else
      errors.insert(errors.end(), graph.errors().begin(), graph.errors().end());
  }
  if (!options.skip_unknown && paths.size() > 1)
    for (Error& error : named_by_none(out, options)) errors.push_back(std::move(error));
  const auto in_blocks = [](const Graph& g) { return g.key_blocks > 0; };
  if (options.key_blocks.value_or(0) > 0 && each.skip_unknown &&
      std::ranges::none_of(out, in_blocks) && !options.skip_unknown && errors.empty())
    errors.push_back(no_long_attention("the models", *options.key_blocks));
  if (!errors.empty()) return errors;
  return out;
}

Result<Graph> load_graph(const ModelDef& model, const ElaborateOptions& options) {
  Result<Graph> graph = elaborate(model, options);
  if (!graph) return graph.errors();
  if (!options.as_written)  // first, as a cast between two nodes hides the form that they are of
    if (std::optional<Graph> plain = without_float_casts(*graph)) graph = std::move(*plain);
  graph = costed_graph(std::move(*graph), options);
  if (!graph) return graph;
  if (const Status good = verify_graph(*graph); !good) return good.errors();
  return graph;
}

Result<Graph> load_graph(std::shared_ptr<const std::string> bytes, const std::string& name,
                         const ElaborateOptions& options) {
  const Result<ModelDef> model = read_model_bytes(std::move(bytes), name);
  if (!model) return model.errors();
  return load_graph(*model, options);
}

}  // namespace accsim::sim
