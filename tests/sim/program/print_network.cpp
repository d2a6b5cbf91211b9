// A network as one program, with the cycle in which each command's result is visible and what the
// report says that it takes, as JSON: for a simulator that shares no code with the model
// (tests/oracle/network_oracle_test.py).
//
//   print_network MACHINE[:DATAFLOW] MODEL [MOST COMMANDS]
//
// MACHINE is one of configs/. Exit code 2 where the network can't be costed on it or runs more
// commands.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "hw/config/load.h"
#include "sim/program/network_program.h"
#include "tests/support/program_json.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

int fail(const std::string& text) {
  fmt::print(stderr, "print_network: {}\n", text);
  return 2;
}

int print_network(const std::string& machine, const std::string& model, int64_t most) {
  const size_t colon = machine.find(':');
  const auto hw = hw::load_hw(kSource + "/configs/" + machine.substr(0, colon) + ".yaml");
  if (!hw) return fail(hw.errors().front().text());
  MapOptions options;
  if (colon != std::string::npos)
    for (size_t d = 0; d < hw::kDataflows; ++d)
      if (machine.substr(colon + 1) == name(static_cast<hw::Dataflow>(d)))
        options.dataflows = {static_cast<hw::Dataflow>(d)};
  if (colon != std::string::npos && options.dataflows.empty())
    return fail("no such dataflow: " + machine);
  const auto graph = load_graph(model, {.bindings = {{"*", 1}}});
  if (!graph) return fail(graph.errors().front().text());
  const auto network = cost_network(*graph, *hw, options);
  if (!network) return fail(network.errors().front().text());
  auto line = test::timed_json(network_program(*graph, *network).program, *hw, most);
  if (!line) return fail(fmt::format("{} runs more than {} commands", model, most));
  (*line)["report"] = network->report.totals.cycles;
  fmt::print("{}\n", line->dump());
  return 0;
}

}  // namespace
}  // namespace accsim::sim

int main(int argc, char** argv) {
  if (argc < 3) return accsim::sim::fail("MACHINE[:DATAFLOW] MODEL [MOST COMMANDS]");
  const int64_t most = argc > 3 ? std::strtoll(argv[3], nullptr, 10) : 1'000'000;
  return accsim::sim::print_network(argv[1], argv[2], most);
}
