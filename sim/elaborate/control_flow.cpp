#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/elaborate/elaborator.h"
#include "sim/elaborate/node_order.h"

namespace accsim::sim {
namespace {

/// Subgraphs and calls inside each other; bounds the recursion.
constexpr int64_t kMostDeep = 64;

/// Counts one level for as long as it lives.
struct Level {
  explicit Level(int64_t& depth) : depth_(depth) { ++depth_; }
  ~Level() { --depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;
  int64_t& depth_;
};

std::vector<std::string> output_names(const GraphDef& graph) {
  std::vector<std::string> names;
  for (const ValueDef& output : graph.outputs) names.push_back(output.name);
  return names;
}

}  // namespace

const Attribute* Elaborator::Call::attribute(std::string_view wanted) const {
  for (const Attribute& attribute : attributes)
    if (attribute.name == wanted) return &attribute;
  return nullptr;
}

const GraphDef* Elaborator::Call::graph(std::string_view wanted) const {
  const Attribute* found = attribute(wanted);
  const auto* held =
      found == nullptr ? nullptr : std::get_if<std::shared_ptr<const GraphDef>>(&found->value);
  return held == nullptr ? nullptr : held->get();
}

int64_t Elaborator::Call::integer(std::string_view wanted, int64_t fallback) const {
  const Attribute* found = attribute(wanted);
  const auto* held = found == nullptr ? nullptr : std::get_if<int64_t>(&found->value);
  return held == nullptr ? fallback : *held;
}

std::vector<int64_t> Elaborator::Call::integers(std::string_view wanted) const {
  const Attribute* found = attribute(wanted);
  const auto* held = found == nullptr ? nullptr : std::get_if<std::vector<int64_t>>(&found->value);
  return held == nullptr ? std::vector<int64_t>{} : *held;
}

std::optional<int64_t> Elaborator::known_scalar(TensorId id) const {
  const Tensor& tensor = graph_.tensor(id);
  if (!tensor.value || tensor.value->size() != 1 || !tensor.value->is_integer())
    return std::nullopt;
  return tensor.value->integers().front();
}

Result<std::vector<TensorId>> Elaborator::find_outputs(const std::vector<std::string>& names,
                                                       const Scope& scope,
                                                       const std::string& label) {
  TensorIds ids;
  for (const std::string& name : names) {
    const TensorId* id = scope.find(name);
    if (id == nullptr || *id == kNoTensor)
      return at(label, Errc::invalid,
                fmt::format("its body's output '{}' is given by no node of the body", name));
    ids.push_back(*id);
  }
  return ids;
}

Result<std::vector<TensorId>> Elaborator::expand_body(const GraphDef& body, Scope& scope,
                                                      const std::string& label) {
  if (depth_ >= kMostDeep)
    return at(label, Errc::capacity, fmt::format("is nested more than {} deep", kMostDeep));
  const Level level(depth_);
  scope.graph = &body;
  Status status = expand(body.nodes, scope);
  if (!status) return status.errors();
  return find_outputs(output_names(body), scope, label);
}

Status Elaborator::bind_outputs(const Call& call, const TensorIds& ids, NodeId first_node) {
  std::set<TensorId> renamed;
  for (size_t i = 0; i < call.def.outputs.size(); ++i) {
    const std::string& name = call.def.outputs[i];
    if (name.empty()) continue;
    if (i >= ids.size())
      return at(label(call), Errc::invalid, fmt::format("has no output {}, but names one", i));
    TensorId id = ids[i];
    if (graph_.tensor(id).producer < first_node || !renamed.insert(id).second) {
      // A value that only passes through keeps its name; the output gets an Identity of its own.
      const Result<TensorId> copy =
          add_internal("Identity", fmt::format("{}/output_{}", call.name, i), {id}, {}, call.scope);
      if (!copy) return copy.errors();
      id = *copy;
    }
    graph_.tensor(id).name = call.scope.prefix + name;
    call.scope.names[name] = id;
  }
  return ok();
}

Status Elaborator::inline_function(const Call& call, const FunctionDef& function) {
  for (const CallFrame* frame = call.scope.frame; frame != nullptr; frame = frame->caller)
    if (frame->function == &function)
      return at(label(call), Errc::invalid, "the function calls itself");
  if (depth_ >= kMostDeep)
    return at(label(call), Errc::capacity, fmt::format("is nested more than {} deep", kMostDeep));
  const Level level(depth_);
  if (call.inputs.size() > function.inputs.size())
    return at(label(call), Errc::invalid,
              fmt::format("has {} inputs, the function takes {}", call.inputs.size(),
                          function.inputs.size()));
  CallFrame frame{&function, call.scope.frame, call.attributes};
  for (const Attribute& fallback : function.attribute_defaults)
    if (call.attribute(fallback.name) == nullptr) frame.attributes.push_back(fallback);
  Scope scope;
  scope.frame = &frame;
  scope.prefix = call.name + "/";
  for (size_t i = 0; i < function.inputs.size(); ++i)
    scope.names.emplace(function.inputs[i], call.input(i));
  const NodeId first_node = static_cast<NodeId>(graph_.nodes.size());
  Status status = expand(function.nodes, scope);
  if (!status) return status;
  const Result<TensorIds> ids = find_outputs(function.outputs, scope, label(call));
  if (!ids) return ids.errors();
  return bind_outputs(call, *ids, first_node);
}

Status Elaborator::expand_if(const Call& call) {
  if (call.input(0) == kNoTensor) return at(label(call), Errc::invalid, "lacks its condition");
  const std::optional<int64_t> condition = known_scalar(call.input(0));
  if (!condition)
    return at(label(call), Errc::unsupported,
              fmt::format("its condition '{}' isn't constant, so the branch can't be known",
                          graph_.tensor(call.input(0)).name));
  const std::string_view branch = *condition != 0 ? "then_branch" : "else_branch";
  const GraphDef* body = call.graph(branch);
  if (body == nullptr) return at(label(call), Errc::invalid, fmt::format("lacks its {}", branch));
  Scope scope;
  scope.parent = &call.scope;
  scope.frame = call.scope.frame;
  scope.prefix = call.name + "/";
  const NodeId first_node = static_cast<NodeId>(graph_.nodes.size());
  Status stored = add_initializers(*body, scope);
  if (!stored) return stored;
  const Result<TensorIds> ids = expand_body(*body, scope, label(call));
  if (!ids) return ids.errors();
  return bind_outputs(call, *ids, first_node);
}

Status Elaborator::loop_iterations(const Call& call, const GraphDef& body, Scope& constants,
                                   TensorIds& carried, std::vector<TensorIds>& scanned) {
  std::optional<int64_t> trips;
  if (call.input(0) != kNoTensor) {
    trips = known_scalar(call.input(0));
    if (!trips)
      return at(
          label(call), Errc::unsupported,
          fmt::format("its trip count '{}' isn't constant", graph_.tensor(call.input(0)).name));
  }
  Result<TensorId> always = add_constant(constants.prefix + "always", {}, {1});
  if (!always) return always.errors();
  graph_.tensor(*always).dtype = DType::boolean;
  TensorId condition = call.input(1) == kNoTensor ? *always : call.input(1);
  for (int64_t i = 0; !trips || i < *trips; ++i) {
    const std::optional<int64_t> go_on = known_scalar(condition);
    if (!go_on)
      return at(label(call), Errc::unsupported,
                fmt::format("its condition '{}' isn't constant, so the number of iterations can't "
                            "be known",
                            graph_.tensor(condition).name));
    if (*go_on == 0) return ok();
    if (i >= kMostIterations)
      return at(label(call), Errc::capacity,
                fmt::format("runs for more than {} iterations", kMostIterations));
    Status stepped = step(label(call));
    if (!stepped) return stepped;
    Scope scope;
    scope.parent = &constants;
    scope.frame = constants.frame;
    scope.prefix = fmt::format("{}{}/", constants.prefix, i);
    const Result<TensorId> counter = add_constant(scope.prefix + "iteration", {}, {i});
    if (!counter) return counter.errors();
    scope.names[body.inputs[0].name] = *counter;
    scope.names[body.inputs[1].name] = condition;
    for (size_t k = 0; k < carried.size(); ++k) scope.names[body.inputs[2 + k].name] = carried[k];
    const Result<TensorIds> ids = expand_body(body, scope, label(call));
    if (!ids) return ids.errors();
    condition = ids->front();
    for (size_t k = 0; k < carried.size(); ++k) carried[k] = (*ids)[1 + k];
    for (size_t k = 0; k < scanned.size(); ++k)
      scanned[k].push_back((*ids)[1 + carried.size() + k]);
  }
  return ok();
}

Status Elaborator::expand_loop(const Call& call) {
  const GraphDef* body = call.graph("body");
  if (body == nullptr) return at(label(call), Errc::invalid, "lacks its body");
  // Trailing absent inputs were trimmed, so that a Loop may have fewer than two.
  TensorIds carried(call.inputs.begin() + std::min<ptrdiff_t>(2, std::ssize(call.inputs)),
                    call.inputs.end());
  if (body->inputs.size() != carried.size() + 2 || body->outputs.size() < carried.size() + 1)
    return at(label(call), Errc::invalid,
              fmt::format("carries {} values, but its body has {} inputs and {} outputs",
                          carried.size(), body->inputs.size(), body->outputs.size()));
  if (std::ranges::find(carried, kNoTensor) != carried.end())
    return at(label(call), Errc::invalid, "lacks the first value of something it carries");
  Scope constants;
  constants.parent = &call.scope;
  constants.frame = call.scope.frame;
  constants.prefix = call.name + "/";
  const NodeId first_node = static_cast<NodeId>(graph_.nodes.size());
  Status status = add_initializers(*body, constants);
  std::vector<TensorIds> scanned(body->outputs.size() - 1 - carried.size());
  if (status) status = loop_iterations(call, *body, constants, carried, scanned);
  if (!status) return status;
  TensorIds ids = carried;
  for (size_t k = 0; k < scanned.size(); ++k) {
    const size_t output = carried.size() + k;
    const bool wanted = output < call.def.outputs.size() && !call.def.outputs[output].empty();
    if (!wanted) {
      ids.push_back(kNoTensor);
      continue;
    }
    const Result<TensorId> all =
        stack(call, output, std::move(scanned[k]), 0, &body->outputs[1 + output]);
    if (!all) return all.errors();
    ids.push_back(*all);
  }
  return bind_outputs(call, ids, first_node);
}

}  // namespace accsim::sim
