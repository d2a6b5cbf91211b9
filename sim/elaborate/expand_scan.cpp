#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/elaborate/control_flow.h"
#include "sim/elaborate/expander.h"
#include "sim/elaborate/iterations.h"
#include "sim/elaborate/model_inputs.h"
#include "sim/elaborate/subgraph_outputs.h"
#include "sim/operators/names.h"

namespace accsim::sim {
namespace {

/// What a Scan does, once its attributes are checked.
struct ScanPlan {
  const GraphDef* body = nullptr;
  size_t states = 0;  ///< node inputs before the scanned ones
  int64_t length = 0;
  std::vector<int64_t> axes;  ///< one per scanned input, not negative
  std::vector<int64_t> backwards;
};

int64_t entry_or_zero(const std::vector<int64_t>& list, size_t i) {
  return i < list.size() ? list[i] : 0;
}

/// Finds the axes that are scanned and the number of steps that they agree on.
Status plan_steps(const NodeCall& call, const Graph& graph, ScanPlan& plan) {
  const std::vector<int64_t> axes = call.integers_attribute("scan_input_axes");
  for (size_t i = 0; plan.states + i < call.inputs.size(); ++i) {
    const Tensor& input = graph.tensor(call.inputs[plan.states + i]);
    const Result<int64_t> axis =
        normalize_axis(entry_or_zero(axes, i), static_cast<int64_t>(input.dims.size()));
    if (!axis) return call.errors_at_node(axis.errors());
    const int64_t length = input.dims[static_cast<size_t>(*axis)];
    if (i > 0 && length != plan.length)
      return call.error_at_node(
          Errc::invalid, fmt::format("scans '{}' for {} steps and another input for {}", input.name,
                                     length, plan.length));
    plan.length = length;
    plan.axes.push_back(*axis);
  }
  if (plan.length > kMostIterations)
    return call.error_at_node(
        Errc::capacity, fmt::format("runs for {} iterations, at most {} are expanded", plan.length,
                                    kMostIterations));
  return ok();
}

Result<ScanPlan> plan_scan(const NodeCall& call, const GraphDef& body, const Graph& graph) {
  ScanPlan plan;
  plan.body = &body;
  const int64_t scanned = call.integer_attribute("num_scan_inputs", 0);
  if (scanned < 1 || scanned > std::ssize(call.inputs))
    return call.error_at_node(
        Errc::invalid,
        fmt::format("num_scan_inputs is {}, but it has {} inputs", scanned, call.inputs.size()));
  plan.states = call.inputs.size() - static_cast<size_t>(scanned);
  if (body.inputs.size() != call.inputs.size() || body.outputs.size() < plan.states)
    return call.error_at_node(
        Errc::invalid, fmt::format("has {} inputs, but its body has {} inputs and {} outputs",
                                   call.inputs.size(), body.inputs.size(), body.outputs.size()));
  if (std::ranges::find(call.inputs, kNoTensor) != call.inputs.end())
    return call.error_at_node(Errc::invalid, "lacks an input");
  plan.backwards = call.integers_attribute("scan_input_directions");
  const Status steps = plan_steps(call, graph, plan);
  if (!steps) return steps.errors();
  return plan;
}

/// Expands the body for one step in `scope`; its outputs go into `values`.
Status run_step(const NodeCall& call, const ScanPlan& plan, int64_t step, Scope& scope,
                IterationValues& values, Expander& expander) {
  GraphBuilder& builder = expander.builder();
  const std::vector<ValueDef>& inputs = plan.body->inputs;
  for (size_t k = 0; k < plan.states; ++k) scope.names[inputs[k].name] = values.carried[k];
  for (size_t k = 0; k < plan.axes.size(); ++k) {
    const bool backwards = entry_or_zero(plan.backwards, k) == 1;
    const Result<TensorId> index =
        builder.add_integers(fmt::format("{}index_{}", scope.prefix, k), {},
                             {backwards ? plan.length - 1 - step : step});
    if (!index) return index.errors();
    const Result<TensorId> slice =
        builder.add_internal(op::kGather, fmt::format("{}gather_{}", scope.prefix, k),
                             {call.inputs[plan.states + k], *index}, {{"axis", "", plan.axes[k]}});
    if (!slice) return slice.errors();
    scope.names[inputs[plan.states + k].name] = *slice;
  }
  const Result<TensorIds> ids = expander.expand_body(call, *plan.body, scope);
  if (!ids) return ids.errors();
  values.take_outputs(*ids, 0);
  return ok();
}

/// The Scan's outputs: the states, then the scanned ones, stacked as the attributes say.
Result<TensorIds> collect_outputs(const NodeCall& call, const ScanPlan& plan,
                                  IterationValues values, GraphBuilder& builder) {
  const std::vector<int64_t> axes = call.integers_attribute("scan_output_axes");
  const std::vector<int64_t> directions = call.integers_attribute("scan_output_directions");
  TensorIds ids = std::move(values.carried);
  for (size_t k = 0; k < values.scanned.size(); ++k) {
    if (entry_or_zero(directions, k) == 1) std::ranges::reverse(values.scanned[k]);
    const size_t output = plan.states + k;
    const Result<TensorId> all =
        stack_iterations(call, {output, entry_or_zero(axes, k), &plan.body->outputs[output]},
                         std::move(values.scanned[k]), builder);
    if (!all) return all.errors();
    ids.push_back(*all);
  }
  return ids;
}

}  // namespace

Status expand_scan(const NodeCall& call, Expander& expander) {
  if (call.opset < 9)
    return call.error_at_node(
        Errc::unsupported,
        "Scan of opset 8 (with a batch axis) is not supported; convert to opset 9 or later");
  GraphBuilder& builder = expander.builder();
  const GraphDef* body = call.graph_attribute("body");
  if (body == nullptr) return call.error_at_node(Errc::invalid, "lacks its body");
  const Result<ScanPlan> plan = plan_scan(call, *body, builder.graph());
  if (!plan) return plan.errors();
  Scope constants = call.scope.inner_scope(call.name + "/");
  const NodeId first_node = builder.next_node();
  Status status = add_initializers(*body, builder, constants);
  IterationValues values;
  values.carried.assign(call.inputs.begin(),
                        call.inputs.begin() + static_cast<ptrdiff_t>(plan->states));
  values.scanned.resize(body->outputs.size() - plan->states);
  for (int64_t i = 0; status && i < plan->length; ++i) {
    if (const Status stepped = expander.budget().take_step(); !stepped)
      return call.errors_at_node(stepped.errors());
    Scope scope = constants.inner_scope(fmt::format("{}{}/", constants.prefix, i));
    status = run_step(call, *plan, i, scope, values, expander);
  }
  if (!status) return status;
  const Result<TensorIds> ids = collect_outputs(call, *plan, std::move(values), builder);
  if (!ids) return ids.errors();
  return bind_outputs(call, *ids, first_node, builder);
}

}  // namespace accsim::sim
