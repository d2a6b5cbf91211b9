#include "sim/cost/layer_costs.h"

#include <gtest/gtest.h>

#include <functional>

#include "hw/config/load.h"
#include "sim/cost/cost.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

hw::HwConfig machine(hw::Dataflow dataflow) {
  auto hw = hw::load_hw(kSource + "/configs/64x64.yaml");
  EXPECT_TRUE(hw.ok());
  hw->array.dataflows = {dataflow};
  return *hw;
}

CostedNetwork cost(const std::string& model, const hw::HwConfig& hw) {
  const auto graph = load_graph(kSource + "/models/" + model, {});
  EXPECT_TRUE(graph.ok());
  auto network = cost_network(*graph, hw, {});
  EXPECT_TRUE(network.ok());
  return std::move(*network);
}

class LayerCosts : public testing::TestWithParam<hw::Dataflow> {
 protected:
  /// One whose products have few rows, and one with tensors that are only moved.
  void each_layer(const std::function<void(const LayerReport&)>& check) const {
    for (const char* model : {"alexnet_op13.onnx", "gpt2_small_op17.onnx", "googlenet_op17.onnx"}) {
      const CostedNetwork network = cost(model, machine(GetParam()));
      for (const LayerReport& layer : network.report.layers) {
        SCOPED_TRACE(layer.name);
        check(layer);
      }
    }
  }
};

/// Cycles are those at full rate and what is lost, each counted once.
TEST_P(LayerCosts, AddUpToTheCycles) {
  each_layer([](const LayerReport& layer) {
    const Costs& c = layer.costs;
    const int64_t full = std::min(c.compute_bound, c.compute_cycles - c.move_cycles);
    int64_t lost = 0;
    for (const Loss& l : cycle_losses(c)) lost += l.cycles;
    EXPECT_EQ(full + lost, c.cycles);
  });
}

/// An array that holds no operand loads none.
TEST_P(LayerCosts, OnlyHeldOperandsAreLoaded) {
  int64_t loaded = 0;
  each_layer([&](const LayerReport& layer) {
    const bool held = GetParam() != hw::Dataflow::output_stationary;
    loaded += layer.bound == Bound::weight_load;
    if (held) return;
    EXPECT_NE(layer.bound, Bound::weight_load);
    EXPECT_EQ(layer.costs.preload_busy, 0);
    EXPECT_EQ(layer.costs.stalls[static_cast<size_t>(hw::Wait::weight_load)], 0);
  });
  EXPECT_EQ(loaded > 0, GetParam() != hw::Dataflow::output_stationary);
}

/// What computes nothing has no lanes that could be idle.
TEST_P(LayerCosts, MovesHaveNoIdleLanes) {
  int64_t moves = 0;
  each_layer([&](const LayerReport& layer) {
    if (layer.costs.move_cycles == 0 || layer.costs.compute_bound > 0) return;
    ++moves;
    for (const Loss& l : cycle_losses(layer.costs)) EXPECT_NE(l.to, "idle lanes");
  });
  EXPECT_GT(moves, 0);
}

/// The array is used by the products that it computes; those on lanes keep it idle.
TEST(LayerUtilization, IsOfTheArraysMacs) {
  hw::HwConfig hw = machine(hw::Dataflow::weight_stationary);
  hw.vector.mac_lanes = 64;
  const Report report = cost("mobilenet_v2_op13.onnx", hw).report;
  int64_t on_array = 0, on_lanes = 0;
  for (const LayerReport& l : report.layers) {
    const int64_t array = l.mapping.starts_with("lanes ") ? 0 : l.costs.macs;
    EXPECT_DOUBLE_EQ(report.utilization(l.costs) * 64 * 64 * static_cast<double>(l.costs.cycles),
                     static_cast<double>(array))
        << l.name;
    on_array += array;
    on_lanes += l.costs.macs - array;
  }
  EXPECT_GT(on_lanes, 0);
  EXPECT_EQ(report.totals.lane_macs, on_lanes);
  EXPECT_DOUBLE_EQ(
      report.utilization(report.totals) * 64 * 64 * static_cast<double>(report.totals.cycles),
      static_cast<double>(on_array));
}

INSTANTIATE_TEST_SUITE_P(Dataflows, LayerCosts,
                         testing::Values(hw::Dataflow::weight_stationary,
                                         hw::Dataflow::input_stationary,
                                         hw::Dataflow::output_stationary),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace accsim::sim
