#include "sim/program/network_program.h"

#include <gtest/gtest.h>

#include "hw/config/load.h"
#include "hw/timing/timing.h"
#include "tests/support/layer_cycles.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

/// What the report adds up layer by layer is what one program of all layers takes, event by event.
class NetworkProgram : public testing::TestWithParam<const char*> {};

TEST_P(NetworkProgram, TakesTheReportsCycles) {
  const Result<Graph> graph = load_graph(kSource + "/models/" + GetParam() + ".onnx", {});
  ASSERT_TRUE(graph.ok());
  for (const char* machine :
       {"64x64", "16x16", "8x8", "64x64-starved", "64x64-ddr4", "64x64-hbm-banked"}) {
    SCOPED_TRACE(machine);
    const hw::HwConfig hw = *hw::load_hw(kSource + "/configs/" + machine + ".yaml");
    MapOptions options;
    options.effort = MapEffort::rule;  // the chain is the same whatever the mappings
    const Result<CostedNetwork> network = cost_network(*graph, hw, options);
    ASSERT_TRUE(network.ok());
    const hw::Program program = network_program(*graph, *network).program;
    const hw::Timing whole = hw::simulate(program, hw);
    EXPECT_EQ(whole.total.count(), network->report.totals.cycles);
    int64_t sum = 0, alone = 0;
    for (const LayerReport& l : network->report.layers) {
      sum += l.costs.cycles;
      alone += l.costs.alone_cycles;
    }
    EXPECT_EQ(sum, whole.total.count());
    EXPECT_LE(sum, test::cycles_of_layers(*network));
    EXPECT_LE(sum, alone);
    hw::Counts counts;
    for (const ScheduledOp& s : network->order) counts += s.mapping->counts;
    EXPECT_EQ(hw::count_program(program, hw), counts);
    if (counts.commands < 1'000'000) {
      EXPECT_EQ(hw::simulate(program, hw, hw::TimingMode::step).total, whole.total);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, NetworkProgram,
                         testing::Values("resnet18_op13", "mobilenet_v2_op13", "squeezenet1_1_op13",
                                         "googlenet_op17", "llama_tiny2_prefill64_op17",
                                         "bert_base_op17", "gpt2_small_op17"),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace accsim::sim
