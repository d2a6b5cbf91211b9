// What a network costs on a machine: `consumer MACHINE MODEL` prints the cycles of all layers.
#include <iostream>

#include "hw/config/load.h"
#include "sim/cost/cost.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto fail = [](const accsim::Errors& errors) {
    for (const accsim::Error& e : errors) std::cerr << e.text() << "\n";
    return 1;
  };
  const auto machine = accsim::hw::load_hw(argv[1]);
  if (!machine) return fail(machine.errors());
  const auto graph = accsim::sim::load_graph(argv[2], {});
  if (!graph) return fail(graph.errors());
  const auto network = accsim::sim::cost_network(*graph, *machine, {});
  if (!network) return fail(network.errors());
  std::cout << network->report.totals.cycles << "\n";
}
