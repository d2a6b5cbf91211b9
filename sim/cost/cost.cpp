#include "sim/cost/cost.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <unordered_set>

#include "hw/area/area.h"
#include "hw/cosim/cosim.h"
#include "hw/program/append_layer.h"
#include "hw/program/verifiable.h"
#include "sim/base/sums.h"
#include "sim/cost/array_kinds.h"
#include "sim/cost/cut_layers.h"
#include "sim/cost/invariants.h"
#include "sim/cost/key_blocks.h"
#include "sim/cost/layer_costs.h"
#include "sim/cost/left_out.h"
#include "sim/cost/network_edp.h"
#include "sim/cost/network_slack.h"
#include "sim/cost/product_modes.h"
#include "sim/cost/requests.h"
#include "sim/lower/attention_blocks.h"
#include "sim/lower/handed_on.h"
#include "sim/lower/lay_out.h"
#include "sim/lower/pads.h"
#include "sim/lower/parameter_sums.h"
#include "sim/lower/real_graph.h"
#include "sim/map/kept_weights.h"
#include "sim/map/mapping_words.h"
#include "sim/onnx/reader.h"
#include "sim/report/bounds.h"
#include "sim/report/format.h"
#include "sim/schedule/program_names.h"

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

/// Maps one layer's work.
Status map_layer(const Layer& l, const std::vector<OpRequest>& work, Mapper& mapper,
                 std::vector<std::shared_ptr<const Mapping>>& mappings) {
  for (const OpRequest& request : work) {
    auto mapping = mapper.map(request, l.name);
    if (!mapping) return mapping.errors();
    mappings.push_back(std::move(*mapping));
  }
  return ok();
}

/// The network's ops in their order.
std::vector<NetworkOp> network_ops(const Lowered& lowered,
                                   const std::vector<std::vector<OpRequest>>& work) {
  std::vector<NetworkOp> out;
  for (size_t i = 0; i < work.size(); ++i)
    for (const OpRequest& request : work[i]) out.push_back({&request, &lowered.layers[i].name});
  return out;
}

/// Operands that the programs of a layer know: moves what they move, all others those of the layer.
int64_t operands_of(const Layer& l) {
  int64_t out = 0;
  for (const WorkItem& item : l.work) {
    const auto* move = std::get_if<MemoryOp>(&item);
    out += move ? std::ssize(move->inputs) + std::ssize(move->outputs)
                : std::ssize(l.inputs) + std::ssize(l.outputs);
  }
  return out;
}

Status check_operands(const std::vector<Layer>& layers, int64_t most, const std::string& file) {
  constexpr int64_t kEach = 1'000;  ///< operands for each program that may be looked for
  if (most > std::numeric_limits<int64_t>::max() / kEach) return ok();
  int64_t operands = 0;
  for (const Layer& l : layers) {
    operands += operands_of(l);
    if (operands > most * kEach)
      return Error{Errc::capacity,
                   fmt::format("the programs of its layers up to '{}' have {} operands, at most {} "
                               "are taken; {} N takes {} times N",
                               l.name, operands, most * kEach, kProgramsOption, kEach),
                   file};
  }
  return ok();
}

/// Equal ops share a program; for every other one is looked.
Status check_programs(const std::vector<NetworkOp>& ops, int64_t most, const std::string& file) {
  if (std::ssize(ops) <= most) return ok();
  std::unordered_set<std::string> different;
  for (const NetworkOp& op : ops) different.insert(key_of(*op.request));
  if (std::ssize(different) <= most) return ok();
  return Error{Errc::capacity,
               fmt::format("needs {} different programs, at most {} are looked for; {} N takes N",
                           different.size(), most, kProgramsOption),
               file};
}

/// So many tilings may be looked at for each program that is allowed (SearchLimit). That is
/// 40 million by default, a second or two. Of models/ GPT-2 takes most, 2 million on 8x8.
constexpr int64_t kTilingsPerProgram = 40'000;

int64_t most_tilings(int64_t most_programs) {
  constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
  return most_programs > kAll / kTilingsPerProgram ? kAll : most_programs * kTilingsPerProgram;
}

Status check_tilings(const Mapper& mapper, const std::string& file) {
  if (!mapper.is_over()) return ok();
  return Error{Errc::capacity,
               fmt::format("has products with more than {} tilings to look at, {} for each program "
                           "that {} N allows; take a larger N, or one tiling each by --effort rule",
                           format_count(mapper.options().limit->most_tilings()),
                           format_count(kTilingsPerProgram), kProgramsOption),
               file};
}

/// Why the core runs no program of the machine; "" where it does.
std::string_view why_no_core(const hw::HwConfig& hw) {
  const std::string_view why = hw::why_not_verifiable(hw);
  return why.empty() && !hw::has_core(hw) ? "no core of this machine" : why;
}

/// The ops of a network, one after the other.
struct Ops {
  std::vector<ChainOp> ops;
  std::vector<std::shared_ptr<const Mapping>> mappings;
};

Ops ops_of(const CostedNetwork& network, const std::vector<std::vector<OpRequest>>& work) {
  Ops out;
  for (size_t i = 0; i < work.size(); ++i)
    for (size_t k = 0; k < work[i].size(); ++k) {
      out.ops.push_back({i, &work[i][k]});
      out.mappings.push_back(network.mappings[i][k]);
    }
  return out;
}

/// How ops are mapped, for people: whole, or how many pieces of what.
std::string describe(const Stretch& s, int64_t pieces) {
  if (s.piece < 0) return s.mapping->description;
  return fmt::format("{} pieces, {}", pieces, s.mapping->description);
}

/// Adds what the layers cost one behind the other to their reports.
void add_costs(const Schedule& schedule, const Ops& ops, const Lowered& lowered, Mapper& mapper,
               Report& r) {
  struct Sum {
    ItemWork work;
    int64_t pieces = 0;
    const Stretch* last = nullptr;
  };
  const std::string_view machine = why_no_core(mapper.machine());
  const std::vector<std::string_view> left_out =
      left_out_layers(schedule.stretches, r.layers.size());
  std::vector<Sum> sums(ops.ops.size());
  for (size_t i = 0; i < schedule.stretches.size(); ++i) {
    const Stretch& s = schedule.stretches[i];
    Sum& sum = sums[s.op];
    sum.work.counts += s.mapping->counts;
    sum.work.timing += schedule.shares[i];
    ++sum.pieces;
    sum.last = &s;
  }
  std::vector<int64_t> macs(r.layers.size(), 0);
  for (size_t i = 0; i < sums.size(); ++i) {
    const size_t layer = ops.ops[i].layer;
    sums[i].work.alone = ops.mappings[i]->timing.total;
    macs[layer] = add_counts(macs[layer], sums[i].work.counts.macs.count());
    const auto cut = schedule.cut.find(i);
    const OpRequest& request = cut == schedule.cut.end() ? *ops.ops[i].request : cut->second;
    Costs costs = item_costs(request, sums[i].work, mapper.machine_of(request));
    const std::string_view why = machine.empty() ? left_out[layer] : machine;
    costs.verifiable_cycles = why.empty() ? costs.cycles : 0;
    r.layers[layer].costs += costs;
    r.layers[layer].unverifiable = why;
    std::string& mapping = r.layers[layer].mapping;
    if (!mapping.empty()) mapping += "; ";
    mapping += describe(*sums[i].last, sums[i].pieces);
  }
  for (size_t i = 0; i < macs.size(); ++i) {
    const Layer& l = lowered.layers[i];
    check(macs[i] == macs_of(l.work),
          "the programs of '" + l.name + "' do other MACs than its shapes");
    r.layers[i].bound = busiest(r.layers[i].costs);
    r.totals += r.layers[i].costs;
  }
}

/// Of ops, those that the network was put together from.
void take_mappings(std::vector<std::shared_ptr<const Mapping>> mappings, Ops& ops,
                   CostedNetwork& network) {
  size_t i = 0;
  for (auto& of_layer : network.mappings)
    for (auto& mapping : of_layer) mapping = mappings[i++];
  ops.mappings = std::move(mappings);
}

/// What the mappings were chosen by, for people.
std::string objective_text(const MapOptions& options) {
  std::string out(name(options.objective));
  if (options.aim().slackens() && options.effort == MapEffort::search)
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

/// Of tensors that stay there from the layer that writes them to the last that reads.
SharedAddresses addresses_of(const Residency& residency) {
  SharedAddresses out;
  for (size_t id = 0; id < residency.addresses.size(); ++id)
    if (residency.addresses[id] >= 0)
      out.emplace(static_cast<int32_t>(id), residency.addresses[id]);
  return out;
}

/// Puts the network together and costs it. Gives the tensors that are in_the_way().
std::vector<TensorId> cost_chain(const Graph& graph, const Lowered& lowered,
                                 const Residency& residency,
                                 const std::vector<std::vector<OpRequest>>& work, Mapper& mapper,
                                 CostedNetwork& network) {
  Report& r = network.report;
  const hw::HwConfig& machine = mapper.machine();
  Ops ops = ops_of(network, work);
  std::vector<RowRun> rows;
  std::vector<LineRun> lines;
  if (mapper.minimises_cycles()) {
    const OpReaders readers(graph, lowered, residency, machine, ops.ops);
    rows = row_runs(readers, machine, ops.ops);
    if (mapper.searches()) lines = line_runs(readers, machine, ops.ops);
  }
  auto [found, mappings, fewest] = schedule_within_slack(
      {machine, ops.ops, ops.mappings, network.tensors, rows, lines, lowered, mapper});
  network.fewest_cycles = fewest;
  check_busy(found.shares);
  take_mappings(std::move(mappings), ops, network);
  add_costs(found, ops, lowered, mapper, r);
  const int64_t kept = machine.shared.kept_bytes;
  r.shared_peak_bytes = residency.peak_bytes + kept;
  for (const Schedule::SharedUse& use : found.shared) {
    r.shared_peak_bytes = std::max(r.shared_peak_bytes, use.bytes + kept);
    for (size_t i = use.first_layer; i <= use.last_layer; ++i)
      r.layers[i].resident_bytes = std::max(r.layers[i].resident_bytes, use.bytes + kept);
  }
  network.text = std::move(found.stretches);
  network.addresses =
      found.addresses.empty() ? addresses_of(residency) : std::move(found.addresses);
  return in_the_way(lines, ops.ops, network.tensors, machine);
}

/// A network costed on a machine, with its tensors placed in one way or the other.
class NetworkCosting {
 public:
  NetworkCosting(const Graph& graph, const hw::HwConfig& hw, const MapOptions& options,
                 const Lowered& lowered)
      : graph_(graph),
        hw_(hw),
        options_(options),
        lowered_(lowered),
        asked_(OperandTypes(graph, lowered).of_layers()),
        kept_(kept_weights(graph, lowered, ModeChoice(asked_, hw).machine())),
        modes_(asked_, beside(kept_, hw)) {}

  /// With these tensors in DRAM; `lowered` is left to the caller.
  Result<CostedNetwork> cost(std::span<const TensorId> in_dram, int64_t most_programs) {
    const hw::HwConfig& machine = modes_.machine();
    const Residency residency = plan_residency(graph_, lowered_, machine, in_dram, kept_.tensors);
    std::vector<std::vector<OpRequest>> work;
    for (const Layer& l : lowered_.layers) {
      work.push_back(requests(graph_, l, residency, machine, options_.all_room));
      modes_.set(asked_[work.size() - 1], work.back());
    }
    const std::vector<NetworkOp> ops = network_ops(lowered_, work);
    if (const Status few = check_programs(ops, most_programs, graph_.file); !few)
      return few.errors();
    if (!mapper_) mapper_ = network_mapper(ops, machine, options_);
    mapper_->map_ahead(ops);
    CostedNetwork out;
    const Status mapped = map(residency, work, out);
    std::vector<TensorId> found;
    if (mapped) found = cost_chain(graph_, lowered_, residency, work, *mapper_, out);
    if (const Status few = check_tilings(*mapper_, graph_.file); !few) return few.errors();
    if (!mapped) return mapped.errors();
    if (in_dram.empty()) in_the_way_ = std::move(found);
    if (const Status good = sum_up(residency, out); !good) return good.errors();
    return out;
  }
  /// Of the first one: what may be better in DRAM.
  const std::vector<TensorId>& in_the_way() const { return in_the_way_; }

 private:
  /// Describes model and layers, and maps each layer's work.
  Status map(const Residency& residency, const std::vector<std::vector<OpRequest>>& work,
             CostedNetwork& out) {
    Report& r = out.report;
    r.hw = hw_;
    const hw::Area silicon = area(hw_);
    r.area_mm2 = silicon.core_mm2();
    r.dram_interface_mm2 = silicon.interface_mm2;
    describe_model(graph_, lowered_, r);
    out.tensors = network_tensors(lowered_, residency);
    Errors errors;
    for (size_t i = 0; i < work.size(); ++i) {
      if (Status few = check_tilings(*mapper_, graph_.file); !few) return few;
      const Layer& l = lowered_.layers[i];
      LayerReport& layer = r.layers.emplace_back(describe_layer(graph_, lowered_, l));
      layer.types = modes_.types(asked_[i]);
      layer.types_note = modes_.note(asked_[i]);
      layer.resident_bytes = residency.use[i].shared + modes_.machine().shared.kept_bytes;
      layer.live_bytes = residency.use[i].live;
      const Status done = map_layer(l, work[i], *mapper_, out.mappings.emplace_back());
      auto& ports = out.ports.emplace_back();
      for (const OpRequest& request : work[i]) ports.push_back(request.ports);
      if (!done) errors.insert(errors.end(), done.errors().begin(), done.errors().end());
    }
    if (!errors.empty()) return errors;
    return ok();
  }

  Status sum_up(const Residency& residency, CostedNetwork& out) {
    Report& r = out.report;
    if (const Status sums = check_sums(r.totals, graph_.file); !sums) return sums;
    check_report(r);
    r.bound = busiest(r.totals);
    r.objective = objective_text(options_);
    r.distinct_ops = mapper_->distinct();
    r.candidates = mapper_->candidates();
    r.evaluated = mapper_->evaluated();
    return compare_cut_layers(graph_, lowered_, residency, {modes_, *mapper_}, r);
  }

  const Graph& graph_;
  const hw::HwConfig& hw_;
  const MapOptions& options_;
  const Lowered& lowered_;
  const std::vector<std::vector<AskedTypes>> asked_;  ///< by layer
  const KeptWeights kept_;
  const ModeChoice modes_;
  std::unique_ptr<Mapper> mapper_;
  std::vector<TensorId> in_the_way_;
};

}  // namespace

namespace {

Error no_long_attention(const std::string& of, int64_t keys) {
  return {Errc::usage,
          fmt::format("no attention of {} is over at least {} keys and spelled out as MatMul, "
                      "Softmax along its last axis and MatMul",
                      of, 2 * keys),
          "--key-blocks"};
}

}  // namespace

std::optional<Graph> without_casts(const Graph& graph) {
  std::optional<Graph> plain = without_float_casts(graph);
  if (plain) plain = absorb_pads(real_graph(std::move(*plain)));
  return plain;
}

Result<Graph> costed_graph(Graph graph, const ElaborateOptions& options) {
  if (!options.as_written) graph = absorb_pads(real_graph(skip_handed_on(std::move(graph))));
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
  Result<ModelDef> model = read_model(path);
  if (!model) return model.errors();
  Result<Graph> graph = elaborate(*model, options);
  if (!graph) return graph.errors();
  graph = costed_graph(std::move(*graph), options);
  if (!graph) return graph;
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
    if (binding.first != kAllOthers)
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
  const auto in_blocks = [](const Graph& g) { return g.key_blocks > 0; };
  if (options.key_blocks.value_or(0) > 0 && each.skip_unknown &&
      std::ranges::none_of(out, in_blocks) && !options.skip_unknown && errors.empty())
    errors.push_back(no_long_attention("the models", *options.key_blocks));
  if (!errors.empty()) return errors;
  return out;
}

namespace {

Result<CostedNetwork> cost_as_it_is(const Graph& given, const hw::HwConfig& hw,
                                    const MapOptions& options, int64_t most_programs) {
  const std::optional<Graph> plain = without_casts(given);
  const Graph& graph = plain ? *plain : given;
  Result<Lowered> lowered = lower_in_memory(graph);
  if (!lowered) return lowered.errors();
  if (const Status few = check_operands(lowered->layers, most_programs, graph.file); !few)
    return few.errors();
  NetworkCosting costing(graph, hw, options, *lowered);
  Result<CostedNetwork> out = costing.cost({}, most_programs);
  if (!out) return out;
  if (!costing.in_the_way().empty()) {
    Result<CostedNetwork> other = costing.cost(costing.in_the_way(), most_programs);
    if (other && other->report.totals.cycles < out->report.totals.cycles) out = std::move(other);
  }
  out->lowered = std::move(*lowered);
  return out;
}

NetworkCost network_cost(const CostedNetwork& of) {
  const Costs& c = of.report.totals;
  return {c.cycles, of.fewest_cycles, c.energy.total(), c.dram_read + c.dram_write};
}

}  // namespace

Result<CostedNetwork> cost_network(const Graph& graph, const hw::HwConfig& hw,
                                   const MapOptions& options, int64_t most_programs) {
  std::vector<std::shared_ptr<const Graph>> in_blocks;
  const std::optional<Graph> plain = without_casts(graph);
  for (Graph& blocks : in_key_blocks_to_try(plain ? *plain : graph, hw))
    in_blocks.push_back(std::make_shared<const Graph>(std::move(blocks)));
  std::optional<CostedNetwork> out;
  Errors errors;
  BestWay best(options.aim());
  for (MapOptions kind : one_array_each(hw, options)) {
    kind.limit = std::make_shared<SearchLimit>(most_tilings(most_programs));
    Result<CostedNetwork> whole = cost_as_it_is(graph, hw, kind, most_programs);
    if (!whole) {
      if (kind.limit->is_over()) return whole.errors();
      if (errors.empty()) errors = whole.errors();
      continue;
    }
    if (best.takes(network_cost(*whole))) out = std::move(*whole);
    for (const auto& blocks : in_blocks) {
      Result<CostedNetwork> other = cost_as_it_is(*blocks, hw, kind, most_programs);
      if (!other || !best.takes(network_cost(*other))) continue;
      out = std::move(*other);
      out->in_blocks = blocks;
    }
  }
  if (!out) return errors;
  out->fewest_cycles = best.fewest();
  return std::move(*out);
}

Status check_pins(const CostedNetwork& network, const MapOptions& options) {
  Errors errors;
  for (const MappingPin& pin : options.pins) {
    bool used = false;
    for (size_t i = 0; i < network.lowered.layers.size() && !used; ++i)
      used = pin.applies_to(network.lowered.layers[i].name) &&
             std::ranges::any_of(network.mappings[i],
                                 [](const auto& m) { return m->gemm.has_value(); });
    if (!used)
      errors.push_back({Errc::usage,
                        fmt::format("no layer with a product matches '{}'; the report's first "
                                    "column lists their names",
                                    pin.layers.empty() ? "*" : pin.layers),
                        "--mapping"});
  }
  if (!errors.empty()) return errors;
  return ok();
}

namespace {

/// A layer's op as a program over the layer's operands.
hw::Program program_of(const Graph& graph, const Mapping& mapping, const LayerPorts& ports,
                       const LayerTensors& layer) {
  hw::Program out = mapping.program;
  name_tensors(graph, mapping.link, ports, layer, out.tensors);
  std::vector<int64_t> offsets;
  for (const OperandPort& port : mapping.link.ports) offsets.push_back(ports.offset(port));
  for (size_t i = 0; i < offsets.size(); ++i) out.tensors[i].bytes += offsets[i];
  hw::begin_at(offsets, out.body);
  return out;
}

}  // namespace

Result<std::string> dump_programs(const Graph& given, const CostedNetwork& network,
                                  const std::string& layer_glob) {
  const Graph& graph = network.in_blocks ? *network.in_blocks : given;
  std::string out;
  for (size_t i = 0; i < network.mappings.size(); ++i) {
    const Layer& l = network.lowered.layers[i];
    if (network.mappings[i].empty() || fnmatch(layer_glob.c_str(), l.name.c_str(), 0) != 0)
      continue;
    for (size_t k = 0; k < network.mappings[i].size(); ++k) {
      const auto& mapping = network.mappings[i][k];
      hw::Program program = program_of(graph, *mapping, network.ports[i][k], network.tensors[i]);
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
