#include "sim/cost/cost.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <unordered_set>

#include "hw/area/area.h"
#include "hw/program/append_layer.h"
#include "sim/base/sums.h"
#include "sim/cost/best_way.h"
#include "sim/cost/cut_layers.h"
#include "sim/cost/invariants.h"
#include "sim/cost/load_graph.h"
#include "sim/cost/network_edp.h"
#include "sim/cost/network_plan.h"
#include "sim/cost/network_report.h"
#include "sim/cost/product_modes.h"
#include "sim/lower/lower.h"
#include "sim/map/kept_weights.h"
#include "sim/report/bounds.h"
#include "sim/report/format.h"
#include "sim/schedule/program_names.h"

namespace accsim::sim {
namespace {

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
Status check_programs(const NetworkPlan& plan, int64_t most, const std::string& file) {
  if (std::ssize(plan.order) <= most) return ok();
  std::unordered_set<std::string_view> different;
  for (const auto& kind : plan.distinct)
    for (const DistinctOp& op : kind) different.insert(op.key);
  if (std::ssize(different) <= most) return ok();
  return Error{Errc::capacity,
               fmt::format("needs {} different programs, at most {} are looked for; {} N takes N",
                           different.size(), most, kProgramsOption),
               file};
}

/// So many tilings may be looked at for each program that is allowed (SearchLimit). That is
/// 20 million by default, a second or two. Of networks that people use GC ViT in half precision
/// takes most, 4 million on 8x8.
constexpr int64_t kTilingsPerProgram = 20'000;

int64_t most_tilings(int64_t most_programs) {
  constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
  return most_programs > kAll / kTilingsPerProgram ? kAll : most_programs * kTilingsPerProgram;
}

Status check_tilings(const Mapper& mapper, const std::string& file) {
  if (!mapper.is_over()) return ok();
  return Error{
      Errc::capacity,
      fmt::format("its search takes longer than looking at {} tilings, {} for each program "
                  "that {} N allows; take a larger N{}",
                  format_count(mapper.options().limit->most_tilings()),
                  format_count(kTilingsPerProgram), kProgramsOption,
                  mapper.is_searching() ? ", or one tiling each by --effort rule" : ""),
      file};
}

/// Of tensors that stay there from the layer that writes them to the last that reads.
SharedAddresses addresses_of(const Residency& residency) {
  SharedAddresses out;
  for (size_t id = 0; id < residency.addresses.size(); ++id)
    if (residency.addresses[id] >= 0)
      out.emplace(static_cast<int32_t>(id), residency.addresses[id]);
  return out;
}

NetworkCost network_cost(const CostedNetwork& of) {
  const Costs& c = of.report.totals;
  return {c.cycles, of.fewest_cycles, c.energy.total_pj(), c.dram_read + c.dram_write};
}

/// A network costed on a machine, in one way after the other.
class NetworkCosting {
 public:
  NetworkCosting(const PreparedNetwork& network, const hw::HwConfig& hw, int64_t most_programs)
      : network_(network),
        hw_(hw),
        most_programs_(most_programs),
        kept_(
            kept_weights(*network.graph, network.lowered, ModeChoice(network.asked, hw).machine())),
        modes_(network.asked, machine_beside(kept_, hw)) {}

  /// With these tensors in DRAM; those of a way that begins: none. `lowered` is left to the caller.
  Result<OneWay<CostedNetwork>> cost_one_way(const MapOptions& options,
                                             std::span<const TensorId> in_dram) {
    if (const Status fits = check_on_chip(*network_.graph, network_.lowered, hw_); !fits)
      return fits.errors();
    const auto plan =
        plan_network(network_, modes_, kept_, {options.all_room, options.pins, in_dram});
    if (const Status few = check_programs(*plan, most_programs_, graph_file()); !few)
      return few.errors();
    const std::vector<NetworkOp> ops = plan->network_ops();
    if (in_dram.empty()) mapper_ = network_mapper(ops, modes_.machine(), options);
    mapper_->map_ahead(ops);
    if (const Status few = check_tilings(*mapper_, graph_file()); !few) return few.errors();
    const auto mapped = map_plan(*plan);
    if (const Status few = check_tilings(*mapper_, graph_file()); !few) return few.errors();
    if (!mapped) return mapped.errors();
    const GroupsToTry groups = groups_to_try(network_, *plan, modes_.machine(), options);
    SlackSchedule found = schedule_plan(network_, *plan, groups,
                                        in_order(*plan, (*mapped)[0], (*mapped)[1]), *mapper_);
    if (const Status few = check_tilings(*mapper_, graph_file()); !few) return few.errors();
    check_busy(found.schedule.shares);
    Result<CostedNetwork> out = assemble_network(*plan, std::move(found));
    if (!out) return out.errors();
    const NetworkCost cost = network_cost(*out);
    return OneWay<CostedNetwork>{
        std::move(*out), cost, {groups.in_the_way.begin(), groups.in_the_way.end()}};
  }

 private:
  const std::string& graph_file() const { return network_.graph->file; }

  /// By kind, the mappings of a plan's ops. Errors: those of every layer, up to its first.
  Result<std::array<MappedOps, 2>> map_plan(const NetworkPlan& plan) {
    std::array<MappedOps, 2> out;
    std::array<std::vector<Errors>, 2> failed;
    for (size_t kind = 0; kind < out.size(); ++kind)
      for (const DistinctOp& op : plan.distinct[kind]) {
        auto mapping = mapper_->map(op.request, *op.layer, op.key);
        failed[kind].push_back(mapping ? Errors() : mapping.errors());
        out[kind].push_back(mapping ? std::move(*mapping) : nullptr);
      }
    Errors errors;
    std::optional<size_t> layer;
    for (const NetworkPlan::Placed& placed : plan.order) {
      const Errors& its = failed[placed.is_gemm][placed.op];
      if (its.empty() || layer == placed.layer) continue;
      layer = placed.layer;
      for (Error e : its) {
        if (is_of_machine(e)) {  // all layers say the same
          if (std::ranges::find(errors, e.text(), &Error::text) == errors.end())
            errors.push_back(std::move(e));
          continue;
        }
        e.where = "layer '" + network_.lowered.layers[placed.layer].name + "'";
        errors.push_back(std::move(e));
      }
    }
    if (!errors.empty()) return errors;
    return out;
  }

  /// The report, and the programs behind it.
  Result<CostedNetwork> assemble_network(NetworkPlan& plan, SlackSchedule found) {
    CostedNetwork out;
    const Lowered& lowered = network_.lowered;
    const Residency& residency = plan.residency;
    out.report.hw = hw_;
    const hw::Area silicon = machine_area(hw_);
    out.report.area_mm2 = silicon.core_mm2();
    out.report.dram_interface_mm2 = silicon.interface_mm2;
    describe_network(network_, residency, modes_, out.report);
    add_costs(found, plan.ops, lowered, *mapper_, out.report);
    out.fewest_cycles = found.fewest;
    out.mappings.resize(lowered.layers.size());
    out.ports.resize(lowered.layers.size());
    for (size_t i = 0; i < plan.order.size(); ++i) {
      out.mappings[plan.ops[i].layer].push_back(std::move(found.mappings[i]));
      out.ports[plan.ops[i].layer].push_back(plan.ops[i].request->ports);
    }
    const int64_t kept = modes_.machine().shared.kept_bytes;
    out.report.shared_peak_bytes = shared_peak_bytes(plan, found.schedule, modes_.machine());
    for (const Schedule::SharedUse& use : found.schedule.shared)
      for (size_t i = use.first_layer; i <= use.last_layer; ++i) {
        int64_t& bytes = out.report.layers[i].resident_bytes;
        bytes = std::max(bytes, use.bytes + kept);
      }
    out.order = std::move(found.schedule.order);
    out.addresses = found.schedule.addresses.empty() ? addresses_of(residency)
                                                     : std::move(found.schedule.addresses);
    out.tensors = std::move(plan.tensors);
    if (const Status good = sum_up(residency, out.report); !good) return good.errors();
    return out;
  }

  Status sum_up(const Residency& residency, Report& r) {
    if (const Status sums = check_sums(r.totals, graph_file()); !sums) return sums;
    check_report(r);
    r.bound = busiest_bound(r.totals);
    r.objective = objective_text(mapper_->options());
    r.distinct_ops = mapper_->distinct_count();
    r.candidates = mapper_->candidate_count();
    r.evaluated = mapper_->evaluated_count();
    return compare_cut_layers(*network_.graph, network_.lowered, residency, {modes_, *mapper_}, r);
  }

  const PreparedNetwork& network_;
  const hw::HwConfig& hw_;
  const int64_t most_programs_;
  const KeptWeights kept_;
  const ModeChoice modes_;
  std::unique_ptr<Mapper> mapper_;
};

}  // namespace

namespace {

/// The graph, ready to be costed, unless its layers have more operands than `most_programs` takes.
Result<PreparedNetwork> prepare_checked(std::shared_ptr<const Graph> graph, int64_t most_programs) {
  Result<PreparedNetwork> out = prepare_network(std::move(graph));
  if (!out) return out;
  if (const Status few = check_operands(out->lowered.layers, most_programs, out->graph->file); !few)
    return few.errors();
  return out;
}

}  // namespace

Result<CostedNetwork> cost_network(const Graph& graph, const hw::HwConfig& hw,
                                   const MapOptions& options, int64_t most_programs) {
  std::vector<PreparedNetwork> ways;  // as it is, and in blocks of keys
  auto plain =
      prepare_checked(std::shared_ptr<const Graph>(&graph, [](const Graph*) {}), most_programs);
  if (!plain) return plain.errors();
  ways.push_back(std::move(*plain));
  for (Graph& blocks : in_key_blocks_to_try(*ways.front().graph, hw))
    if (auto way = prepare_checked(std::make_shared<const Graph>(std::move(blocks)), most_programs))
      ways.push_back(std::move(*way));
  std::vector<NetworkCosting> costings;
  costings.reserve(ways.size());
  for (const PreparedNetwork& way : ways) costings.emplace_back(way, hw, most_programs);
  MapOptions limited = options;
  limited.limit = std::make_shared<SearchLimit>(most_tilings(most_programs));
  Result<CostedNetwork> out = best_way<CostedNetwork>(
      hw, limited, ways.size() - 1,
      [&](const MapOptions& kind, size_t way, std::span<const TensorId> in_dram) {
        Result<OneWay<CostedNetwork>> costed = costings[way].cost_one_way(kind, in_dram);
        if (costed && way > 0) costed->costed.in_blocks = ways[way].graph;
        return costed;
      });
  if (!out) return out;
  const auto best = std::ranges::find(ways, out->in_blocks, &PreparedNetwork::graph);
  out->lowered = std::move((best == ways.end() ? ways.begin() : best)->lowered);
  return out;
}

Status check_pins(const CostedNetwork& network, const MapOptions& options) {
  Errors errors;
  for (const MappingPin& pin : options.pins) {
    bool used = false;
    for (size_t i = 0; i < network.lowered.layers.size() && !used; ++i)
      used = pin.applies_to(network.lowered.layers[i].name) &&
             std::ranges::any_of(network.mappings[i], [](const std::shared_ptr<const Mapping>& m) {
               // An engine's products have no source; units have no MACs.
               return m->source_as<GemmSource>() != nullptr ||
                      (!m->has_program() && m->counts.macs > Macs(0));
             });
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
  name_tensors(graph, mapping.trace, ports, layer, out.tensors);
  std::vector<int64_t> offsets;
  for (const OperandPort& port : mapping.trace.ports) offsets.push_back(ports.offset(port));
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
      if (!mapping->has_program()) {
        out += fmt::format("# '{}' {} [{}]: no program, {} cycles\n\n", l.name, l.op_type,
                           mapping->description, mapping->timing.total.count());
        continue;
      }
      hw::Program program = program_of(graph, *mapping, network.ports[i][k], network.tensors[i]);
      program.name = fmt::format("'{}' {} [{}]", l.name, l.op_type, mapping->description);
      out += program_text(program);
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
