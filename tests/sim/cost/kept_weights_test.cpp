#include "sim/map/kept_weights.h"

#include <gtest/gtest.h>

#include "hw/config/load.h"
#include "hw/program/core_runs.h"
#include "sim/cost/cost.h"
#include "sim/cost/workload.h"
#include "sim/elaborate/elaborate.h"
#include "tests/support/models.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

hw::HwConfig machine(int64_t kib, hw::RunWeights weights) {
  hw::HwConfig hw = *hw::load_hw(kSource + "/configs/64x64-starved.yaml");
  hw.shared.kib = kib;
  hw.shared.weights = weights;
  return hw;
}

/// SqueezeNet's weights and tensors fit into 4 MiB: only the image is read and only the answer
/// written, and nothing else of the work changes.
TEST(KeptWeightsFlow, AreNotReadAgain) {
  const Graph g = *load_graph(kSource + "/models/squeezenet1_1_op13.onnx", {});
  const auto read = cost_network(g, machine(4096, hw::RunWeights::read), {});
  const auto kept = cost_network(g, machine(4096, hw::RunWeights::kept), {});
  ASSERT_TRUE(read.ok() && kept.ok());
  const Costs &a = read->report.totals, &b = kept->report.totals;
  EXPECT_LT(b.cycles, a.cycles);
  EXPECT_EQ(b.macs, a.macs);
  constexpr int64_t kWeights = 1235496;  // parameters of SqueezeNet 1.1, biases among them
  EXPECT_GT(a.dram_read, kWeights);
  EXPECT_LT(b.dram_read, 2 * 3 * 224 * 224);
  EXPECT_GE(b.dram_read, 3 * 224 * 224);
  EXPECT_GT(kept->report.shared_peak_bytes, read->report.shared_peak_bytes + kWeights);
  EXPECT_LE(kept->report.shared_peak_bytes, 4096 * 1024);
}

/// Also where a part of them fits.
TEST(KeptWeightsFlow, CostTheSameInAWorkload) {
  const Graph g = *load_graph(kSource + "/models/resnet18_op13.onnx", {});
  Workload workload = Workload::prepare(g).value();
  for (const int64_t kib : {1024, 3072, 8192, 16384})
    for (const hw::RunWeights weights : {hw::RunWeights::kept, hw::RunWeights::read}) {
      const hw::HwConfig hw = machine(kib, weights);
      const auto network = cost_network(g, hw, {});
      const auto totals = workload.cost(hw, {});
      ASSERT_TRUE(network.ok() && totals.ok());
      EXPECT_EQ(totals->cycles, network->report.totals.cycles) << kib << " KiB";
      EXPECT_EQ(totals->dram_read_bytes, network->report.totals.dram_read) << kib << " KiB";
      EXPECT_EQ(totals->shared_peak_bytes, network->report.shared_peak_bytes) << kib << " KiB";
      EXPECT_LE(totals->shared_peak_bytes, kib * 1024);
    }
}

/// A product of 96 x 64 by 64 x 32 whose operands lie where is said: they aren't read from DRAM,
/// or written there, but from the shared buffer, and take room there.
TEST(KeptWeightsFlow, LieOperandsOnChipWhereAGraphSays) {
  test::ModelBuilder b;
  b.input("x", {96, 64}).weight("w", {64, 32}).node("MatMul", {"x", "w"}, {"y"}).output("y");
  Graph g = *elaborate(b.model(), {});
  const hw::HwConfig hw = machine(64, hw::RunWeights::read);
  const Costs none = cost_network(g, hw, {})->report.totals;
  struct Case {
    const char* name;
    int64_t read, written;
  };
  for (const Case& c : {Case{"x", 96 * 64, 0}, Case{"w", 64 * 32, 0}, Case{"y", 0, 96 * 32}}) {
    g.on_chip = {c.name};
    const auto found = cost_network(g, hw, {});
    ASSERT_TRUE(found.ok()) << c.name;
    const Costs& costs = found->report.totals;
    EXPECT_LE(costs.dram_read, none.dram_read - c.read) << c.name;
    EXPECT_LE(none.dram_read - costs.dram_read, c.read + 32 * 12) << c.name;  // and parameters
    EXPECT_EQ(none.dram_write - costs.dram_write, c.written) << c.name;
    EXPECT_GE(costs.shared_read, c.read) << c.name;
    EXPECT_EQ(costs.shared_write, c.written) << c.name;
    EXPECT_GE(found->report.shared_peak_bytes, c.read + c.written) << c.name;
    EXPECT_EQ(Workload::prepare(g)->cost(hw, {})->cycles, costs.cycles) << c.name;
  }
  g.on_chip = {"x", "w", "y"};
  const auto all = cost_network(g, hw, {});
  EXPECT_EQ(all->report.totals.dram_read + all->report.totals.dram_write, 0);
  const auto refused = cost_network(g, machine(8, hw::RunWeights::read), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.errors().front().code, Errc::capacity);
  EXPECT_FALSE(Workload::prepare(g)->cost(machine(8, hw::RunWeights::read), {}).ok());
}

TEST(KeptWeightsFlow, AreTimedAndNotVerified) {
  const hw::HwConfig kept = machine(4096, hw::RunWeights::kept);
  EXPECT_EQ(core_lacks(kept), hw::CoreLack::kept_weights);
  const hw::HwConfig read = machine(4096, hw::RunWeights::read);
  EXPECT_EQ(core_lacks(read), std::nullopt);
}

}  // namespace
}  // namespace accsim::sim
