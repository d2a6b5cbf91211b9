// Are a report's cycles those of the whole network as one program on a machine that never drains,
// command by command? Every network of models/ (symbolic dims small) on the machines of configs/,
// and on an array whose sums stay: the report's total, that program with its loops skipped ahead,
// and every iteration of every loop stepped through must take the same cycles, queue by queue, and
// every layer of the report what stepping gives it.
//
//   chain_exactness [--without-waits] [MACHINE or MODEL FILE]...    without names: all
//
// Exit code 1 and the first layer that differs when they aren't: as with --without-waits, which
// takes the waits for marks out of the program that is stepped through.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "hw/config/load.h"
#include "hw/timing/timing.h"
#include "sim/program/network_program.h"
#include "tests/support/source.h"
#include "tests/support/timings.h"

namespace accsim::sim {
namespace {

namespace fs = std::filesystem;

struct Machine {
  std::string name;
  std::vector<hw::Dataflow> dataflows;  ///< none: its own
};

/// All of configs/: those whose programs the core can run, floats, and DRAM of banks, whose rates
/// change with the transfer.
const std::vector<Machine>& machines() {
  static const std::vector<Machine> kMachines = {
      {"64x64", {}},         {"16x16", {}},
      {"8x8", {}},           {"64x64-int4", {}},
      {"64x64-starved", {}}, {"64x64-hbm", {}},
      {"64x64-ddr4", {}},    {"64x64-hbm-banked", {}},
      {"128x128", {}},       {"16x16", {hw::Dataflow::output_stationary}},
  };
  return kMachines;
}

std::string label(const Machine& m) {
  return m.dataflows.empty() ? m.name : fmt::format("{} {}", m.name, name(m.dataflows.front()));
}

std::vector<std::string> models() {
  std::vector<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(kSource + "/models"))
    if (entry.path().extension() == ".onnx") out.push_back(entry.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

/// Symbols become 2, 3, 4, ... in the order of their names: small, and no two the same.
Result<Graph> load_small(const std::string& path) {
  auto graph = load_graph(path, {.bindings = {{"*", 1}}});
  if (!graph || graph->bindings.empty()) return graph;
  ElaborateOptions options;
  for (const auto& [symbol, one] : graph->bindings)
    options.bindings[symbol] = 2 + std::ssize(options.bindings);
  return load_graph(path, options);
}

/// What stepping through the network's program says.
struct Stepped {
  hw::Timing timing;
  int64_t commands = 0;
  std::vector<int64_t> layers;  ///< cycles from the end of all before to their own end
};

/// A layer's own commands are as many as its programs have; they stand in the order of the text.
Stepped step(const hw::Program& program, const hw::HwConfig& hw, const CostedNetwork& network) {
  Stepped out;
  out.layers.resize(network.report.layers.size());
  size_t at = 0;
  int64_t left = 0, end = 0, before = 0;
  const auto turn = [&] {
    left = 0;
    for (; left == 0 && at < network.order.size(); ++at)
      left = network.order[at].mapping->counts.commands;
  };
  turn();
  out.timing = hw::simulate(program, hw, hw::TimingMode::step, [&](const hw::CommandTime& command) {
    ++out.commands;
    end = std::max(end, command.finish);
    --left;
    if (left > 0) return;
    if (at > 0) out.layers[network.order[at - 1].layer] += end - before;
    before = end;
    turn();
  });
  return out;
}

std::string first_wrong_layer(const CostedNetwork& network, const Stepped& stepped) {
  for (size_t i = 0; i < stepped.layers.size(); ++i) {
    const LayerReport& l = network.report.layers[i];
    if (l.costs.cycles != stepped.layers[i])
      return fmt::format("; first '{}' ({}): {} in the report, {} stepped", l.name, l.op_type,
                         l.costs.cycles, stepped.layers[i]);
  }
  return "";
}

struct Found {
  int64_t commands = 0;
  int64_t cycles = 0;
  std::string wrong;  ///< "" where all is the same
};

/// Nothing that one layer stores and another loads is waited for any more.
void drop_waits(std::vector<hw::Item>& body) {
  std::erase_if(body, [](const hw::Item& item) {
    const auto* mark = std::get_if<hw::Mark>(&item.node);
    return mark != nullptr && mark->waits;
  });
  for (hw::Item& item : body)
    if (auto* loop = std::get_if<hw::Loop>(&item.node)) drop_waits(loop->body);
}

Found compare(const Graph& graph, const Machine& machine, bool waits) {
  const auto hw = hw::load_hw(kSource + "/configs/" + machine.name + ".yaml");
  if (!hw) return {0, 0, hw.errors().front().text()};
  MapOptions options;
  options.dataflows = machine.dataflows;
  const auto network = cost_network(graph, *hw, options);
  if (!network) return {0, 0, network.errors().front().text()};
  int64_t commands = 0;
  for (const ScheduledOp& s : network->order) commands += s.mapping->counts.commands;
  hw::Program program = network_program(graph, *network).program;
  const hw::Timing periodic = hw::simulate(program, *hw);
  if (!waits) drop_waits(program.body);
  const Stepped stepped = step(program, *hw, *network);
  const int64_t report = network->report.totals.cycles;
  const std::string layer = first_wrong_layer(*network, stepped);
  Found out{stepped.commands, report, ""};
  if (report != stepped.timing.total.count() || !test::equal(periodic, stepped.timing) ||
      commands != stepped.commands || !layer.empty())
    out.wrong = fmt::format("{} cycles in the report, {} periodic, {} stepped; {} of {} commands{}",
                            report, periodic.total.count(), stepped.timing.total.count(),
                            stepped.commands, commands, layer);
  return out;
}

bool asked_for(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::ranges::find(names, name) != names.end();
}

int main_with(const std::vector<std::string>& arguments) {
  std::vector<std::string> files, names;
  bool waits = true;
  for (const std::string& a : arguments)
    if (a == "--without-waits")
      waits = false;
    else
      (a.ends_with(".onnx") ? files : names).push_back(a);
  int compared = 0, wrong = 0;
  int64_t commands = 0;
  for (const std::string& path : files.empty() ? models() : files) {
    const auto graph = load_small(path);
    if (!graph) {
      fmt::print("{}\n", graph.errors().front().text());
      return 2;
    }
    for (const Machine& machine : machines()) {
      if (!asked_for(names, label(machine))) continue;
      const Found found = compare(*graph, machine, waits);
      fmt::print("{:<34} {:<24} {:>14} cycles {:>12} commands  {}\n",
                 fs::path(path).stem().string(), label(machine), found.cycles, found.commands,
                 found.wrong.empty() ? "equal" : "DIFFERENT: " + found.wrong);
      std::fflush(stdout);
      ++compared;
      wrong += found.wrong.empty() ? 0 : 1;
      commands += found.commands;
    }
  }
  fmt::print("{} networks and machines, {} commands: {} different\n", compared, commands, wrong);
  return compared > 0 && wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace accsim::sim

int main(int argc, char** argv) {
  return accsim::sim::main_with(std::vector<std::string>(argv + 1, argv + argc));
}
