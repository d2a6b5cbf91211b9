#include "sim/cost/network_report.h"

#include <fmt/format.h>

#include "hw/program/core_runs.h"
#include "sim/base/sums.h"
#include "sim/cost/layer_costs.h"
#include "sim/cost/left_out.h"
#include "sim/lower/parameter_sums.h"
#include "sim/map/slack_word.h"
#include "sim/report/bounds.h"

namespace accsim::sim {
namespace {

void describe_model(const Graph& graph, const Lowered& lowered, Report& r) {
  r.model_name = graph.name;
  r.model_file = graph.file;
  r.opset = graph.opset;
  r.ir_version = graph.ir_version;
  r.nodes = static_cast<int64_t>(graph.nodes.size());
  r.params = lowered.params;
  r.buffers = lowered.buffers;
  r.weight_bytes = lowered.weight_bytes;
  for (const auto& [type, sum] : parameters_by_type(lowered)) {
    r.params_by_type.emplace_back(type, sum.count);
    r.bytes_by_type.emplace_back(type, sum.bytes);
  }
  r.key_blocks = graph.key_blocks;
  r.bindings.assign(graph.bindings.begin(), graph.bindings.end());
  r.defaulted = graph.defaulted;
  r.assumed = graph.assumed;
  r.unsupported = lowered.unsupported;
}

LayerReport describe_layer(const Graph& graph, const Lowered& lowered, const Layer& l) {
  LayerReport out;
  out.name = l.name;
  out.op_type = l.op_type;
  out.fate = l.fate;
  if (l.merged_into >= 0) out.merged_into = lowered.layers[static_cast<size_t>(l.merged_into)].name;
  const Node& node = graph.nodes[static_cast<size_t>(l.node)];
  out.module = node.module;
  out.part_of = node.part_of;
  for (TensorId id : node.inputs)
    if (id != kNoTensor) out.input_shapes.push_back(graph.tensor(id).dims);
  for (TensorId id : node.outputs)
    if (id != kNoTensor) {
      out.output_shape = graph.tensor(id).dims;
      break;
    }
  out.costs.macs = l.macs;
  out.costs.params = l.params;
  return out;
}

/// How ops are mapped, for people: whole, or how many pieces of what.
std::string mapping_text(const ScheduledOp& s, int64_t pieces) {
  if (s.piece < 0) return s.mapping->description;
  return fmt::format("{} pieces, {}", pieces, s.mapping->description);
}

}  // namespace

void describe_network(const PreparedNetwork& network, const Residency& residency,
                      const ModeChoice& modes, Report& r) {
  describe_model(*network.graph, network.lowered, r);
  for (size_t i = 0; i < network.lowered.layers.size(); ++i) {
    const Layer& l = network.lowered.layers[i];
    LayerReport& layer = r.layers.emplace_back(describe_layer(*network.graph, network.lowered, l));
    layer.types = modes.types_text(network.asked[i]);
    layer.types_note = modes.note_text(network.asked[i]);
    layer.resident_bytes = residency.use[i].shared + modes.machine().shared.kept_bytes;
    layer.live_bytes = residency.use[i].live;
  }
}

void add_costs(const SlackSchedule& found, std::span<const ChainOp> ops, const Lowered& lowered,
               Mapper& mapper, Report& r) {
  struct Sum {
    ItemWork work;
    int64_t pieces = 0;
    const ScheduledOp* last = nullptr;
  };
  const Schedule& schedule = found.schedule;
  const std::string_view machine = hw::name(hw::core_lacks(mapper.machine()));
  const std::vector<std::string_view> left_out = left_out_layers(schedule.order, r.layers.size());
  std::vector<Sum> sums(ops.size());
  for (size_t i = 0; i < schedule.order.size(); ++i) {
    const ScheduledOp& s = schedule.order[i];
    Sum& sum = sums[s.op];
    sum.work.counts += s.mapping->counts;
    ++sum.pieces;
    sum.last = &s;
  }
  std::vector<int64_t> macs(r.layers.size(), 0);
  for (size_t i = 0; i < sums.size(); ++i) {
    const size_t layer = ops[i].layer;
    sums[i].work.timing = schedule.shares[i];
    sums[i].work.alone = found.mappings[i]->timing.total;
    macs[layer] =
        add_counts(macs[layer], (sums[i].work.counts.macs + sums[i].work.counts.lane_macs).count());
    const auto cut = schedule.cut.find(i);
    const OpRequest& request = cut == schedule.cut.end() ? *ops[i].request : cut->second;
    Costs costs = item_costs(request, sums[i].work, mapper.machine_of(request));
    // What units do, and what they leave to lanes, says more than that the machine has them.
    const bool by_units = request.unit && !left_out[layer].empty();
    const std::string_view why = machine.empty() || by_units ? left_out[layer] : machine;
    costs.verifiable_cycles = why.empty() ? costs.cycles : 0;
    r.layers[layer].costs += costs;
    r.layers[layer].unverifiable = why;
    std::string& mapping = r.layers[layer].mapping;
    if (!mapping.empty()) mapping += "; ";
    mapping += mapping_text(*sums[i].last, sums[i].pieces);
  }
  for (size_t i = 0; i < macs.size(); ++i) {
    const Layer& l = lowered.layers[i];
    check(macs[i] == macs_of(l.work),
          "the programs of '" + l.name + "' do other MACs than its shapes");
    r.layers[i].bound = busiest_bound(r.layers[i].costs);
    r.totals += r.layers[i].costs;
  }
}

std::string objective_text(const MapOptions& options) {
  std::string out(name(options.objective));
  if (options.objective_function().has_slack() && options.effort == MapEffort::search)
    out +=
        fmt::format(" and the least energy x traffic within {} of them", slack_text(options.slack));
  if (options.effort == MapEffort::rule) out += " by the fixed rule";
  if (!options.dataflows.empty()) {
    out += ", dataflow";
    for (const hw::Dataflow d : options.dataflows) out += fmt::format(" {}", name(d));
  }
  for (const MappingPin& pin : options.pins) out += fmt::format(", pinned '{}'", pin.text);
  return out;
}

}  // namespace accsim::sim
