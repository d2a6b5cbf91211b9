// Runs the passes of the main job, of inspect and of shapes over models, and has callgrind write
// what each takes: "MODEL JOB" into the dump's trigger. Usage: growth MACHINE MODEL...
#include <valgrind/callgrind.h>

#include <iostream>

#include "hw/config/load.h"
#include "sim/analyse/analysis.h"
#include "sim/cost/cost.h"
#include "sim/lower/lower_each.h"
#include "sim/report/inspect.h"
#include "sim/report/json.h"
#include "sim/report/shapes.h"
#include "sim/report/text.h"

namespace accsim::sim {
namespace {

/// Prints what is wrong.
template <class T>
bool good(const Result<T>& result) {
  if (!result)
    for (const Error& e : result.errors()) std::cerr << e.text() << "\n";
  return result.ok();
}

bool cost(const std::string& model, const hw::HwConfig& hw) {
  const Result<Graph> graph = load_graph(model, {});
  if (!good(graph)) return false;
  const Result<CostedNetwork> network = cost_network(*graph, hw, {});
  if (!good(network)) return false;
  std::cout << to_json(network->report).size() + to_text(network->report, {}).size() << "\n";
  return true;
}

bool inspect(const std::string& model) {
  const Result<Graph> graph = load_graph(model, {.as_written = true});
  if (!good(graph)) return false;
  const Result<Lowered> lowered = lower_each(*graph);
  if (!good(lowered)) return false;
  const Result<Analysis> analysis = analyse(*graph, *lowered, {});
  if (!good(analysis)) return false;
  const Inspection all{*graph, *lowered, *analysis};
  std::cout << inspect_json(all).size() + inspect_text(all, {}).size() << "\n";
  return true;
}

bool shapes(const std::string& model) {
  const Result<Graph> graph = load_graph(model, {.as_written = true});
  if (!good(graph)) return false;
  std::cout << shapes_json(*graph).size() + shapes_text(*graph, 80).size() << "\n";
  return true;
}

/// Runs a job between two dumps.
template <class Job>
bool counted(const std::string& what, const Job& job) {
  CALLGRIND_ZERO_STATS;
  const bool done = job();
  CALLGRIND_DUMP_STATS_AT(what.c_str());
  return done;
}

}  // namespace
}  // namespace accsim::sim

int main(int argc, char** argv) {
  using namespace accsim;
  if (argc < 3) return 2;
  const Result<hw::HwConfig> hw = hw::load_hw(argv[1]);
  if (!sim::good(hw)) return 2;
  for (int i = 2; i < argc; ++i) {
    const std::string model = argv[i];
    const bool done = sim::counted(model + " cost", [&] { return sim::cost(model, *hw); }) &&
                      sim::counted(model + " inspect", [&] { return sim::inspect(model); }) &&
                      sim::counted(model + " shapes", [&] { return sim::shapes(model); });
    if (!done) return 1;
  }
}
