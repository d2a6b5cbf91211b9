#include "sim/cost/network_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "sim/cost/requests.h"
#include "sim/lower/handed_on.h"
#include "sim/lower/lower.h"

namespace accsim::sim {
namespace {

/// Requests that are mapped alike are told apart by the layer's operands that are theirs.
std::string ports_text(const LayerPorts& ports) {
  std::string out;
  for (const auto* side : {&ports.inputs, &ports.outputs}) {
    for (const LayerPorts::Port& port : *side)
      out += fmt::format(" {}+{}", port.index, port.offset);
    out += ';';
  }
  return out;
}

/// The place of the pin that applies to a layer, where there are any.
std::string pin_text(std::span<const MappingPin> pins, const std::string& layer) {
  if (pins.empty()) return "";
  const auto pin =
      std::ranges::find_if(pins, [&](const MappingPin& p) { return p.applies_to(layer); });
  return fmt::format(" pin {}", pin - pins.begin());
}

FusionGroups groups_of(const PreparedNetwork& network, const NetworkPlan& plan,
                       const hw::HwConfig& hw) {
  const OpReaders readers(*network.graph, network.lowered, plan.residency, hw, plan.ops);
  FusionGroups out{row_groups(readers, hw, plan.ops), line_groups(readers, hw, plan.ops), {}};
  out.in_the_way = in_the_way(out.lines, plan.ops, plan.tensors, hw);
  return out;
}

}  // namespace

Result<PreparedNetwork> prepare_network(std::shared_ptr<const Graph> graph) {
  PreparedNetwork out;
  std::optional<Graph> plain = without_float_casts(*graph);
  out.graph = plain ? std::make_shared<const Graph>(std::move(*plain)) : std::move(graph);
  Result<Lowered> lowered = lower_in_memory(*out.graph);
  if (!lowered) return lowered.errors();
  out.lowered = std::move(*lowered);
  out.asked = OperandTypes(*out.graph, out.lowered).of_layers();
  return out;
}

std::vector<NetworkOp> NetworkPlan::network_ops() const {
  std::vector<NetworkOp> out;
  for (const Placed& placed : order)
    out.push_back({&distinct_op(placed).request, distinct_op(placed).layer});
  return out;
}

std::unique_ptr<NetworkPlan> plan_network(const PreparedNetwork& network, const ModeChoice& modes,
                                          const KeptWeights& kept, const PlanOptions& options) {
  const hw::HwConfig& hw = modes.machine();
  auto out = std::make_unique<NetworkPlan>();
  out->residency =
      plan_residency(*network.graph, network.lowered, hw, options.in_dram, kept.tensors);
  out->tensors = network_tensors(network.lowered, out->residency);
  std::unordered_map<std::string, size_t> seen;  // a key is of one kind
  for (size_t i = 0; i < network.lowered.layers.size(); ++i) {
    const Layer& layer = network.lowered.layers[i];
    std::vector<OpRequest> work =
        layer_requests(*network.graph, layer, out->residency, hw, options.all_room);
    modes.set_modes(network.asked[i], work);
    const std::string pin = pin_text(options.pins, layer.name);
    for (OpRequest& request : work) {
      const bool is_gemm = std::holds_alternative<GemmOp>(request.item);
      auto& ops = out->distinct[is_gemm];
      std::string key = key_of(request);
      std::string whole = key + ports_text(request.ports);
      whole += pin;
      const auto [at, fresh] = seen.emplace(std::move(whole), ops.size());
      if (fresh)
        ops.push_back({.request = std::move(request), .key = std::move(key), .layer = &layer.name});
      ++ops[at->second].times;
      out->order.push_back({is_gemm, at->second, i});
    }
  }
  for (const NetworkPlan::Placed& placed : out->order)
    out->ops.push_back({placed.layer, &out->distinct_op(placed).request});
  return out;
}

GroupsToTry groups_to_try(const PreparedNetwork& network, NetworkPlan& plan, const hw::HwConfig& hw,
                          const MapOptions& options) {
  if (options.objective != Objective::cycles || hw.has_dot_products() || hw.has_side_units())
    return {};
  if (!plan.groups) plan.groups = groups_of(network, plan, hw);
  if (options.effort != MapEffort::search) return {plan.groups->rows, {}, {}};
  return {plan.groups->rows, plan.groups->lines, plan.groups->in_the_way};
}

MappedOps in_order(const NetworkPlan& plan, const MappedOps& others, const MappedOps& products) {
  MappedOps out;
  out.reserve(plan.order.size());
  for (const NetworkPlan::Placed& placed : plan.order)
    out.push_back((placed.is_gemm ? products : others)[placed.op]);
  return out;
}

SlackSchedule schedule_plan(const PreparedNetwork& network, const NetworkPlan& plan,
                            const GroupsToTry& groups, const MappedOps& mappings, Mapper& mapper,
                            hw::ChainMemory* chains) {
  return schedule_within_slack({mapper.machine(), plan.ops, mappings, plan.tensors, groups.rows,
                                groups.lines, network.lowered, mapper, chains});
}

int64_t shared_peak_bytes(const NetworkPlan& plan, const Schedule& schedule,
                          const hw::HwConfig& machine) {
  int64_t most = plan.residency.peak_bytes;
  for (const Schedule::SharedUse& use : schedule.shared) most = std::max(most, use.bytes);
  return most + machine.shared.kept_bytes;
}

}  // namespace accsim::sim
