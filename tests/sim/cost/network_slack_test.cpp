#include "sim/cost/network_slack.h"

#include <gtest/gtest.h>

#include "hw/config/load.h"
#include "sim/cost/cost.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

struct SlackCase {
  const char* model;
  const char* machine;
  std::map<std::string, int64_t> bindings{};
};

class NetworkSlack : public testing::TestWithParam<SlackCase> {
 protected:
  Costs costs(double slack) const {
    ElaborateOptions options;
    for (const auto& [name, size] : GetParam().bindings) options.bindings[name] = size;
    const auto graph = load_graph(kSource + "/models/" + GetParam().model + ".onnx", options);
    const auto hw = hw::load_hw(kSource + "/configs/" + GetParam().machine + ".yaml");
    return cost_network(*graph, *hw, {.slack = slack})->report.totals;
  }
};

/// Layers that are within the slack alone overlap less: on some of these machines their chain would
/// be beyond it.
TEST_P(NetworkSlack, IsOfTheNetworkAsAWhole) {
  const Costs none = costs(0);
  for (const double slack : {0.002, 0.01, 0.05}) {
    const Costs with = costs(slack);
    EXPECT_LE(static_cast<double>(with.cycles), (1 + slack) * static_cast<double>(none.cycles));
    EXPECT_LE(with.energy.total_pj(), none.energy.total_pj());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Networks, NetworkSlack,
    testing::Values(SlackCase{"llama_tiny2_decode_dyn_op17", "128x128", {{"past", 64}}},
                    SlackCase{"bert_base_dyn_op17", "64x64-hbm", {{"sequence", 2}}},
                    SlackCase{"squeezenet1_1_op13", "16x16"}, SlackCase{"resnet18_op13", "64x64"}));

/// It is taken: the least energy moves much less through DRAM.
TEST(NetworkSlackTaken, SavesTrafficForFewCycles) {
  const auto graph = load_graph(kSource + "/models/resnet18_op13.onnx", {});
  const auto hw = hw::load_hw(kSource + "/configs/16x16.yaml");
  const Costs none = cost_network(*graph, *hw, {.slack = 0})->report.totals;
  const Costs with = cost_network(*graph, *hw, {})->report.totals;
  EXPECT_GT(with.cycles, none.cycles);
  EXPECT_LT(with.dram_read + with.dram_write, 2 * (none.dram_read + none.dram_write) / 3);
}

/// Six projections read their weights twice within their own slack, and once in that of the
/// network. The shared buffer holds all activations: only the image and constants are in DRAM.
TEST(NetworkSlackTaken, ReadsWeightsOnce) {
  const auto graph = load_graph(kSource + "/models/mobilenet_v2_op13.onnx", {});
  const auto hw = hw::load_hw(kSource + "/configs/64x64.yaml");
  const Report report = cost_network(*graph, *hw, {})->report;
  constexpr int64_t kParameters = 12, kTable = 256;  // bytes of a channel, and of a layer
  int products = 0;
  for (const LayerReport& l : report.layers) {
    if (l.op_type != "Conv" && l.op_type != "Gemm") continue;
    if (++products == 1) continue;  // reads the image
    int64_t weights = 1;
    for (const int64_t d : l.input_shapes[1]) weights *= d;
    EXPECT_LE(l.costs.dram_read, weights + kParameters * l.input_shapes[1][0] + kTable) << l.name;
    EXPECT_GE(l.costs.dram_read, weights) << l.name;
  }
  EXPECT_EQ(products, 53);
}

}  // namespace
}  // namespace accsim::sim
