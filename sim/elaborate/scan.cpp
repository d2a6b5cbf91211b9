#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/elaborate/elaborator.h"
#include "sim/elaborate/node_order.h"

namespace accsim::sim {
namespace {

constexpr int64_t kInternalOpset = 13;

int64_t entry(const std::vector<int64_t>& list, size_t i) { return i < list.size() ? list[i] : 0; }

}  // namespace

/// What a Scan does, once its attributes are checked.
struct Elaborator::ScanPlan {
  const GraphDef* body = nullptr;
  size_t states = 0;  ///< node inputs before the scanned ones
  int64_t length = 0;
  std::vector<int64_t> axes;  ///< one per scanned input, not negative
  std::vector<int64_t> backwards;
};

Result<TensorId> Elaborator::add_internal(std::string op_type, std::string name, TensorIds inputs,
                                          std::vector<Attribute> attributes, const Scope& scope) {
  Tensor tensor;
  tensor.name = name + "_output";
  tensor.producer = static_cast<NodeId>(graph_.nodes.size());
  const TensorId id = static_cast<TensorId>(graph_.tensors.size());
  graph_.tensors.push_back(std::move(tensor));
  const std::string where = fmt::format("node '{}' (op {})", name, op_type);
  Status status = step(where);
  if (!status) return status.errors();
  graph_.nodes.push_back({std::move(name),
                          op_type,
                          "",
                          kInternalOpset,
                          std::move(inputs),
                          {id},
                          std::move(attributes),
                          false});
  const OpRow* row = find_op("", op_type);
  status = infer(row, where, scope);
  if (!status) return status.errors();
  return id;
}

Result<TensorId> Elaborator::stack(const Call& call, size_t output, TensorIds parts, int64_t axis,
                                   const ValueDef* declared) {
  const std::string base = fmt::format("{}/output_{}", call.name, output);
  if (parts.empty()) {
    const std::optional<Dims> dims = declared == nullptr ? std::nullopt : declared_dims(*declared);
    if (!dims || declared->dtype == DType::undefined)
      return at(label(call), Errc::unsupported,
                fmt::format("runs for no iteration and its body doesn't declare the shape of "
                            "output {}",
                            output));
    Dims all = *dims;
    all.insert(all.begin(), 0);
    return add_tensor({base,
                       Tensor::Origin::initializer,
                       declared->dtype,
                       std::move(all),
                       kNoNode,
                       true,
                       nullptr,
                       {}});
  }
  const auto rank = static_cast<int64_t>(graph_.tensor(parts.front()).dims.size());
  if (axis < -(rank + 1) || axis > rank)
    return at(label(call), Errc::invalid,
              fmt::format("scan axis {} is outside of output {}", axis, output));
  if (axis < 0) axis += rank + 1;
  const Result<TensorId> axes = add_constant(base + "_axes", {1}, {axis});
  if (!axes) return axes.errors();
  for (size_t i = 0; i < parts.size(); ++i) {
    const Result<TensorId> part = add_internal("Unsqueeze", fmt::format("{}/unsqueeze_{}", base, i),
                                               {parts[i], *axes}, {}, call.scope);
    if (!part) return part;
    parts[i] = *part;
  }
  if (parts.size() == 1) return parts.front();
  return add_internal("Concat", base + "/concat", std::move(parts), {{"axis", "", axis}},
                      call.scope);
}

Result<Elaborator::ScanPlan> Elaborator::plan_scan(const Call& call, const GraphDef& body) {
  const auto bad = [&](std::string message) {
    return at(label(call), Errc::invalid, std::move(message));
  };
  ScanPlan plan;
  plan.body = &body;
  const int64_t scanned = call.integer("num_scan_inputs", 0);
  if (scanned < 1 || scanned > std::ssize(call.inputs))
    return bad(
        fmt::format("num_scan_inputs is {}, but it has {} inputs", scanned, call.inputs.size()));
  plan.states = call.inputs.size() - static_cast<size_t>(scanned);
  if (body.inputs.size() != call.inputs.size() || body.outputs.size() < plan.states)
    return bad(fmt::format("has {} inputs, but its body has {} inputs and {} outputs",
                           call.inputs.size(), body.inputs.size(), body.outputs.size()));
  if (std::ranges::find(call.inputs, kNoTensor) != call.inputs.end()) return bad("lacks an input");
  plan.backwards = call.integers("scan_input_directions");
  const std::vector<int64_t> axes = call.integers("scan_input_axes");
  for (size_t i = 0; i < static_cast<size_t>(scanned); ++i) {
    const Tensor& input = graph_.tensor(call.inputs[plan.states + i]);
    const Result<int64_t> axis =
        normalize_axis(entry(axes, i), static_cast<int64_t>(input.dims.size()));
    if (!axis) return at(label(call), axis.errors());
    const int64_t length = input.dims[static_cast<size_t>(*axis)];
    if (i > 0 && length != plan.length)
      return bad(fmt::format("scans '{}' for {} steps and another input for {}", input.name, length,
                             plan.length));
    plan.length = length;
    plan.axes.push_back(*axis);
  }
  if (plan.length > kMostIterations)
    return at(label(call), Errc::capacity,
              fmt::format("runs for {} iterations, at most {} are expanded", plan.length,
                          kMostIterations));
  return plan;
}

Status Elaborator::scan_step(const Call& call, const ScanPlan& plan, int64_t step, Scope& scope,
                             TensorIds& carried, std::vector<TensorIds>& scanned) {
  for (size_t k = 0; k < plan.states; ++k) scope.names[plan.body->inputs[k].name] = carried[k];
  for (size_t k = 0; k < plan.axes.size(); ++k) {
    const bool backwards = entry(plan.backwards, k) == 1;
    const Result<TensorId> index = add_constant(fmt::format("{}index_{}", scope.prefix, k), {},
                                                {backwards ? plan.length - 1 - step : step});
    if (!index) return index.errors();
    const Result<TensorId> slice =
        add_internal("Gather", fmt::format("{}gather_{}", scope.prefix, k),
                     {call.inputs[plan.states + k], *index}, {{"axis", "", plan.axes[k]}}, scope);
    if (!slice) return slice.errors();
    scope.names[plan.body->inputs[plan.states + k].name] = *slice;
  }
  const Result<TensorIds> ids = expand_body(*plan.body, scope, label(call));
  if (!ids) return ids.errors();
  for (size_t k = 0; k < plan.states; ++k) carried[k] = (*ids)[k];
  for (size_t k = 0; k < scanned.size(); ++k) scanned[k].push_back((*ids)[plan.states + k]);
  return ok();
}

Status Elaborator::expand_scan(const Call& call) {
  if (opset_of("", call.scope) < 9)
    return at(label(call), Errc::unsupported,
              "Scan of opset 8 (with a batch axis) is not supported; convert to opset 9 or later");
  const GraphDef* body = call.graph("body");
  if (body == nullptr) return at(label(call), Errc::invalid, "lacks its body");
  const Result<ScanPlan> plan = plan_scan(call, *body);
  if (!plan) return plan.errors();
  Scope constants;
  constants.parent = &call.scope;
  constants.frame = call.scope.frame;
  constants.prefix = call.name + "/";
  const NodeId first_node = static_cast<NodeId>(graph_.nodes.size());
  Status status = add_initializers(*body, constants);
  TensorIds ids(call.inputs.begin(), call.inputs.begin() + static_cast<ptrdiff_t>(plan->states));
  std::vector<TensorIds> scanned(body->outputs.size() - plan->states);
  for (int64_t i = 0; status && i < plan->length; ++i) {
    Scope scope;
    scope.parent = &constants;
    scope.frame = constants.frame;
    scope.prefix = fmt::format("{}{}/", constants.prefix, i);
    status = step(label(call));
    if (status) status = scan_step(call, *plan, i, scope, ids, scanned);
  }
  if (!status) return status;
  const std::vector<int64_t> axes = call.integers("scan_output_axes");
  const std::vector<int64_t> directions = call.integers("scan_output_directions");
  for (size_t k = 0; k < scanned.size(); ++k) {
    const size_t output = plan->states + k;
    const bool wanted = output < call.def.outputs.size() && !call.def.outputs[output].empty();
    if (!wanted) {
      ids.push_back(kNoTensor);
      continue;
    }
    if (entry(directions, k) == 1) std::ranges::reverse(scanned[k]);
    const Result<TensorId> all =
        stack(call, output, std::move(scanned[k]), entry(axes, k), &body->outputs[output]);
    if (!all) return all.errors();
    ids.push_back(*all);
  }
  return bind_outputs(call, ids, first_node);
}

}  // namespace accsim::sim
