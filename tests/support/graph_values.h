#pragma once
#include <gtest/gtest.h>

#include <vector>

#include "sim/ref/executor.h"

namespace accsim::test {

/// Elements of each output of a graph, of random inputs and of weights drawn where there are none.
inline std::vector<std::vector<double>> graph_values(const sim::Graph& graph, uint64_t inputs_seed,
                                                     uint64_t weight_seed) {
  sim::ref::Arrays inputs;
  for (const sim::TensorId id : graph.inputs)
    inputs[graph.tensor(id).name] = sim::ref::random_input(graph, id, inputs_seed);
  sim::ref::RunOptions options;
  options.weight_seed = weight_seed;
  const auto result = sim::ref::run_graph(graph, inputs, options);
  EXPECT_TRUE(result.ok()) << result.errors().front().text();
  std::vector<std::vector<double>> out;
  for (const sim::TensorId id : graph.outputs)
    out.push_back(result->outputs.at(graph.tensor(id).name).reals());
  return out;
}

}  // namespace accsim::test
