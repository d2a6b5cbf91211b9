#pragma once
#include "hw/timing/chain.h"
#include "sim/cost/cost.h"
#include "sim/schedule/chain.h"

namespace accsim::test {

/// Cycles of the layers' own programs one behind the other, none of them in pieces.
inline int64_t cycles_of_layers(const sim::CostedNetwork& network) {
  hw::Chain chain(network.report.hw, false);
  for (size_t i = 0; i < network.mappings.size(); ++i)
    for (size_t k = 0; k < network.mappings[i].size(); ++k) {
      const sim::OpTrace& trace = network.mappings[i][k]->trace;
      chain.add_program(trace.steps,
                        sim::tensor_numbers(trace, network.ports[i][k], network.tensors[i]));
    }
  return chain.total_cycles();
}

}  // namespace accsim::test
