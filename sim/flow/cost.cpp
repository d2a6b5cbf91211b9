#include "sim/flow/cost.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "hw/area/area.h"
#include "hw/timing/chain.h"
#include "sim/base/sums.h"
#include "sim/flow/cut_layers.h"
#include "sim/flow/layer_costs.h"
#include "sim/flow/requests.h"
#include "sim/onnx/reader.h"
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
  r.bindings.assign(graph.bindings.begin(), graph.bindings.end());
  r.defaulted = graph.defaulted;
  r.unsupported = lowered.unsupported;
}

LayerReport describe_layer(const Graph& graph, const Lowered& lowered, const Layer& l) {
  LayerReport out;
  out.name = l.name;
  out.op_type = l.op_type;
  out.fate = l.fate;
  if (l.merged_into >= 0) out.merged_into = lowered.layers[static_cast<size_t>(l.merged_into)].name;
  const Node& node = graph.nodes[static_cast<size_t>(l.node)];
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

/// Maps one layer's work.
Status map_layer(const Layer& l, const std::vector<OpRequest>& work, Mapper& mapper,
                 std::vector<std::shared_ptr<const Mapping>>& mappings, LayerReport& report) {
  int64_t program_macs = 0;
  for (const OpRequest& request : work) {
    auto mapping = mapper.map(request, l.name);
    if (!mapping) return mapping.errors();
    if (!report.mapping.empty()) report.mapping += "; ";
    report.mapping += (*mapping)->description;
    program_macs = add_counts(program_macs, (*mapping)->counts.macs.count());
    mappings.push_back(std::move(*mapping));
  }
  check(program_macs == l.macs, "the programs of '" + l.name + "' do other MACs than its shapes");
  return ok();
}

/// Adds what the layers cost one behind the other to their reports.
void cost_chain(const CostedNetwork& network, const std::vector<std::vector<OpRequest>>& work,
                Report& r) {
  bool loads = true;
  for (const auto& mappings : network.mappings)
    for (const auto& m : mappings) loads = loads && loads_first(m->link);
  hw::Chain chain(r.hw, loads);
  for (size_t i = 0; i < work.size(); ++i) {
    LayerReport& report = r.layers[i];
    for (size_t k = 0; k < work[i].size(); ++k) {
      const Mapping& m = *network.mappings[i][k];
      const hw::Timing share = chain.add(m.link.steps, numbers(m.link, network.tensors[i]));
      report.costs += item_costs(work[i][k], m, share, r.hw);
    }
    report.bound = busiest(report.costs);
    r.totals += report.costs;
  }
}

}  // namespace

Result<Graph> load_graph(const std::string& path, const ElaborateOptions& options) {
  Result<ModelDef> model = read_model(path);
  if (!model) return model.errors();
  Result<Graph> graph = elaborate(*model, options);
  if (!graph) return graph.errors();
  if (const Status good = verify(*graph); !good) return good.errors();
  return graph;
}

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
  const auto nobody_has = [&](const auto& of, const std::string& what) {
    if (!options.skip_unknown && paths.size() > 1 && std::ranges::none_of(out, of))
      errors.push_back({Errc::usage, "no model has " + what, ""});
  };
  for (const auto& binding : options.bindings)
    nobody_has([&](const Graph& g) { return g.bindings.contains(binding.first); },
               fmt::format("a symbol '{}' to bind", binding.first));
  for (const auto& shape : options.input_shapes)
    nobody_has(
        [&](const Graph& g) {
          return std::ranges::any_of(g.inputs, [&](TensorId t) {
            return g.tensors[static_cast<size_t>(t)].name == shape.first;
          });
        },
        fmt::format("an input '{}' to give a shape to", shape.first));
  if (!errors.empty()) return errors;
  return out;
}

Result<CostedNetwork> cost_network(const Graph& graph, const hw::HwConfig& hw,
                                   const MapOptions& options) {
  Result<Lowered> lowered = lower(graph);
  if (!lowered) return lowered.errors();
  CostedNetwork out;
  out.lowered = std::move(*lowered);
  const Residency residency = plan_residency(graph, out.lowered, hw);
  Mapper mapper(hw, options);
  Report& r = out.report;
  r.hw = hw;
  r.area_mm2 = area_mm2(hw);
  describe_model(graph, out.lowered, r);
  Errors errors;
  std::vector<std::vector<OpRequest>> work;
  for (const Layer& l : out.lowered.layers) {
    LayerReport& layer = r.layers.emplace_back(describe_layer(graph, out.lowered, l));
    layer.resident_bytes = residency.use[r.layers.size() - 1].shared;
    layer.live_bytes = residency.use[r.layers.size() - 1].live;
    out.tensors.push_back(layer_tensors(l, residency));
    work.push_back(requests(graph, l, residency, hw));
    const Status done = map_layer(l, work.back(), mapper, out.mappings.emplace_back(), layer);
    if (!done) errors.insert(errors.end(), done.errors().begin(), done.errors().end());
  }
  if (!errors.empty()) return errors;
  cost_chain(out, work, r);
  if (const Status sums = check_sums(r.totals, graph.file); !sums) return sums.errors();
  r.bound = busiest(r.totals);
  r.objective = name(options.objective);
  if (options.effort == MapEffort::rule) r.objective += " by the fixed rule";
  if (!options.dataflows.empty()) {
    r.objective += ", dataflow";
    for (const hw::Dataflow d : options.dataflows) r.objective += fmt::format(" {}", name(d));
  }
  for (const MappingPin& pin : options.pins) r.objective += fmt::format(", pinned '{}'", pin.text);
  r.distinct_ops = mapper.distinct();
  r.candidates = mapper.candidates();
  r.evaluated = mapper.evaluated();
  r.shared_peak_bytes = residency.peak_bytes;
  if (const Status compared = compare_cut_layers(graph, residency, mapper, r); !compared)
    return compared.errors();
  return out;
}

Result<std::string> dump_programs(const CostedNetwork& network, const std::string& layer_glob) {
  std::string out;
  for (size_t i = 0; i < network.mappings.size(); ++i) {
    const Layer& l = network.lowered.layers[i];
    if (network.mappings[i].empty() || fnmatch(layer_glob.c_str(), l.name.c_str(), 0) != 0)
      continue;
    for (const auto& mapping : network.mappings[i]) {
      hw::Program program = mapping->program;
      program.name = fmt::format("'{}' {} [{}]", l.name, l.op_type, mapping->description);
      out += print(program);
      out += fmt::format("  # {} cycles, {} commands, {} MACs\n\n", mapping->timing.total.count(),
                         mapping->counts.commands, mapping->counts.macs.count());
    }
  }
  if (out.empty())
    return Error{Errc::usage,
                 "no layer that runs a program matches '" + layer_glob +
                     "'; the report's first column lists their names",
                 "--dump-program"};
  return out;
}

}  // namespace accsim::sim
