#include "sim/elaborate/given_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "sim/operators/fold.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

constexpr size_t kListed = 8;  ///< names that a message lists

std::string expected_text(const Tensor& tensor) {
  return fmt::format("{} {}", name(tensor.dtype),
                     tensor.dims.empty() ? "scalar" : to_string(tensor.dims));
}

Error misfit(const GivenValue& given, const Tensor& tensor, std::string_view is) {
  return {Errc::usage,
          fmt::format("--value of '{}' must be {}, but {} {}", tensor.name, expected_text(tensor),
                      given.text, is),
          ""};
}

bool holds(DType type, int64_t v) {
  if (type == DType::uint64) return v >= 0;
  return wrap_to_type(type, v) == v;
}

/// Names that the nodes and inputs of a graph and of its subgraphs give.
void collect_names(const GraphDef& graph, std::set<std::string_view>& names);
void collect_names(const std::vector<NodeDef>& nodes, std::set<std::string_view>& names) {
  for (const NodeDef& node : nodes) {
    names.insert(node.outputs.begin(), node.outputs.end());
    for (const Attribute& attribute : node.attributes)
      if (const auto* body = held_value<std::shared_ptr<const GraphDef>>(&attribute))
        if (*body != nullptr) collect_names(**body, names);
  }
}
void collect_names(const GraphDef& graph, std::set<std::string_view>& names) {
  for (const ValueDef& input : graph.inputs) names.insert(input.name);
  for (const StoredTensor& stored : graph.initializers) names.insert(stored.name);
  collect_names(graph.nodes, names);
}

/// Is it one of the names, or one behind the path of a loop, branch or function that it stands in?
bool is_named(const std::set<std::string_view>& names, std::string_view name) {
  if (names.contains(name.substr(0, name.rfind('/')))) return true;  // a tensor of a sequence
  while (true) {
    if (names.contains(name)) return true;
    const size_t at = name.find('/');
    if (at == std::string_view::npos) return false;
    name.remove_prefix(at + 1);
  }
}

/// Was the tensor's value stated, or does it follow from one that was?
bool is_given(const Tensor& t) { return !t.constant && t.value != nullptr; }

/// Tensors whose stated values the node's shape or cost depends on.
void note_asked(Graph& graph, const Node& node, std::set<TensorId>& asked) {
  const OpRow* row = find_op(node);
  if (row == nullptr || std::ranges::none_of(node.inputs, [&](TensorId id) {
        return id != kNoTensor && is_given(graph.tensor(id));
      }))
    return;
  InferContext shapes(graph, node);
  const NodeView costs(graph, node);
  if (row->shape != nullptr) static_cast<void>(row->shape(shapes));
  if (row->cost != nullptr) static_cast<void>(row->cost(costs));
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i] != kNoTensor && (shapes.asked_for(i) || costs.asked_for(i)))
      asked.insert(node.inputs[i]);
}

/// Adds what the asked tensors' values follow from.
void add_sources(const Graph& graph, std::set<TensorId>& asked) {
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (std::ranges::none_of(node->outputs, [&](TensorId id) { return asked.contains(id); }))
      continue;
    for (const TensorId id : node->inputs)
      if (id != kNoTensor && is_given(graph.tensor(id))) asked.insert(id);
  }
}

}  // namespace

Result<ConstPtr> fit_value(const GivenValue& given, const Tensor& tensor) {
  check(given.elements != nullptr, "a given value without elements");
  const ConstData& data = *given.elements;
  if (!is_foldable(tensor.dtype)) return misfit(given, tensor, "can't be one");
  if (given.dims && *given.dims != tensor.dims)
    return misfit(given, tensor, "is " + to_string(*given.dims));
  if (const auto count = checked_elements(tensor.dims);
      !count || data.size() != static_cast<size_t>(*count))
    return misfit(given, tensor,
                  data.size() == 1 ? "is 1 number" : fmt::format("is {} numbers", data.size()));
  const bool plain_type = given.dtype == DType::undefined;
  if (!plain_type && given.dtype != tensor.dtype)
    return misfit(given, tensor, fmt::format("is {}", name(given.dtype)));
  if (is_float(tensor.dtype)) {
    std::vector<double> reals(data.size());
    for (size_t i = 0; i < reals.size(); ++i) reals[i] = round_to(tensor.dtype, data.as_double(i));
    return std::make_shared<const ConstData>(std::move(reals));
  }
  if (!data.is_integer()) return misfit(given, tensor, "holds a number that isn't whole");
  for (const int64_t v : data.integers())
    if (plain_type && !holds(tensor.dtype, v))
      return misfit(given, tensor, fmt::format("holds {}", v));
  return given.elements;
}

Status check_value_names(const GivenValues& given, const ModelDef& model) {
  if (given.empty()) return ok();
  std::set<std::string_view> names;
  collect_names(model.graph, names);
  for (const FunctionDef& function : model.functions) collect_names(function.nodes, names);
  Errors errors;
  for (const auto& [tensor, value] : given) {
    if (is_named(names, tensor)) continue;
    std::vector<std::string_view> inputs;
    for (const ValueDef& input : model.graph.inputs)
      if (inputs.size() < kListed) inputs.push_back(input.name);
    errors.push_back({Errc::usage,
                      fmt::format("--value names '{}', which is no tensor of the model; its "
                                  "inputs are {}{}",
                                  tensor, fmt::join(inputs, ", "),
                                  model.graph.inputs.size() > kListed ? " ..." : ""),
                      ""});
  }
  if (!errors.empty()) return errors;
  return ok();
}

Status check_values_used(const Graph& graph, const std::map<std::string, TensorId>& given,
                         const std::set<TensorId>& asked) {
  if (graph.given_values.empty()) return ok();
  Graph scratch = graph;
  std::set<TensorId> used = asked;
  for (const Node& node : graph.nodes) note_asked(scratch, node, used);
  add_sources(graph, used);
  Errors errors;
  for (const auto& [tensor, value] : graph.given_values) {
    const auto at = given.find(tensor);
    if (at != given.end() && used.contains(at->second)) continue;
    errors.push_back(
        {Errc::usage,
         at == given.end()
             ? fmt::format("--value gives '{}', which no node that is left computes", tensor)
             : fmt::format("--value gives '{}', but no shape and no cost depends on its value",
                           tensor),
         ""});
  }
  if (!errors.empty()) return errors;
  return ok();
}

}  // namespace accsim::sim
