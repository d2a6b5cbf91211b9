#include <gtest/gtest.h>

#include "hw/config/load.h"
#include "hw/program/place_tensors.h"
#include "hw/timing/timing.h"
#include "sim/cost/workload.h"
#include "sim/elaborate/elaborate.h"
#include "sim/program/network_program.h"
#include "tests/support/models.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

/// Products of constants and of two computed tensors, one with a residual.
Graph products() {
  test::ModelBuilder m(17);
  m.input("x", {220, 64}).input("z", {280, 64}).output("y");
  m.weight("w1", {64, 280})
      .weight("w2", {64, 250})
      .weight("w3", {250, 250})
      .weight("w4", {250, 90});
  m.node("MatMul", {"x", "w1"}, {"a"});
  m.node("MatMul", {"z", "w2"}, {"b"});
  m.node("MatMul", {"a", "b"}, {"c"});
  m.node("MatMul", {"c", "w3"}, {"d"});
  m.node("Add", {"c", "d"}, {"e"});
  m.node("Relu", {"e"}, {"f"});
  m.node("MatMul", {"f", "w4"}, {"y"});
  Result<Graph> graph = elaborate(m.model(), {});
  EXPECT_TRUE(graph.ok());
  return std::move(graph).value();
}

hw::HwConfig machine(int64_t shared_kib) {
  hw::HwConfig hw = *hw::load_hw(kSource + "/configs/8x8.yaml");
  hw.shared.kib = shared_kib;
  return hw;
}

class StagedNetwork : public testing::TestWithParam<int64_t> {};

/// Layers that stage one behind the other, with the same regions and with tensors that stay in the
/// shared buffer beside them: shares of a chain are one program's cycles, all that stands in the
/// shared buffer has room, and what is remembered for many machines is the same.
TEST_P(StagedNetwork, TakesTheReportsCycles) {
  const Graph graph = products();
  const hw::HwConfig hw = machine(GetParam());
  for (const MapOptions& options :
       {MapOptions{.objective = Objective::traffic}, MapOptions{.slack = 0.2}}) {
    const Result<CostedNetwork> network = cost_network(graph, hw, options);
    ASSERT_TRUE(network.ok());
    const Report& report = network->report;
    hw::Program program = network_program(graph, *network).program;
    EXPECT_EQ(hw::simulate(program, hw).total.count(), report.totals.cycles);
    EXPECT_EQ(hw::simulate(program, hw, hw::TimingMode::step).total.count(), report.totals.cycles);
    int staged = 0;
    for (const auto& mappings : network->mappings)
      for (const auto& m : mappings)
        if (const auto* product = m->source_as<GemmSource>())
          staged += std::get<Tiling>(product->tiling).staged > 0;
    EXPECT_GE(staged, 2);
    EXPECT_GT(report.totals.staged, 0);
    for (const LayerReport& l : report.layers)
      EXPECT_LE(l.costs.traffic_bound, l.costs.dram_read + l.costs.dram_write) << l.name;
    const Status placed = hw::place_tensors(program, hw);
    ASSERT_TRUE(placed.ok()) << placed.errors().front().text();
    const Status good = hw::verify(program, hw);
    ASSERT_TRUE(good.ok()) << good.errors().front().text();
    auto workload = Workload::prepare(products());
    ASSERT_TRUE(workload.ok());
    for (const bool again : {false, true}) {
      const auto totals = workload->cost(hw, options);
      ASSERT_TRUE(totals.ok()) << again;
      EXPECT_EQ(totals->cycles, report.totals.cycles);
      EXPECT_EQ(totals->dram_read_bytes, report.totals.dram_read);
    }
  }
}

/// A large square product moves little more than the memory on chip makes it move, whether the
/// second operand is a constant or computed, and takes little longer than the array.
TEST(StagedProduct, MovesAtMostHalfMoreThanTheLeast) {
  const hw::HwConfig hw = *hw::load_hw(kSource + "/configs/64x64.yaml");
  constexpr int64_t n = 4096;
  for (const bool constant : {true, false}) {
    test::ModelBuilder m(17);
    m.input("a", {n, n}).output("y");
    if (constant) {
      m.weight("b", {n, n});
    } else {
      m.input("b", {n, n});
    }
    m.node("MatMul", {"a", "b"}, {"y"});
    const Result<Graph> graph = elaborate(m.model(), {});
    ASSERT_TRUE(graph.ok());
    const Result<CostedNetwork> network = cost_network(*graph, hw, {});
    ASSERT_TRUE(network.ok());
    ASSERT_EQ(network->report.layers.size(), 1);
    const Costs& t = network->report.layers[0].costs;
    EXPECT_LE(2 * (t.dram_read + t.dram_write), 3 * t.traffic_bound) << constant;
    EXPECT_LE(100 * network->report.totals.cycles, 101 * n * n * n / 4096) << constant;
  }
}

INSTANTIATE_TEST_SUITE_P(Shared, StagedNetwork, testing::Values(24, 48, 160),
                         [](const auto& kib) { return std::to_string(kib.param) + "KiB"; });

/// A machine with all the room is a bound for those on which tensors take some of it.
TEST(StagedNetworks, TakeNoMoreTrafficWithAllTheRoom) {
  auto workload = Workload::prepare(products());
  ASSERT_TRUE(workload.ok());
  for (const int64_t kib : {24, 48, 64, 80, 100, 130}) {
    const MapOptions options{.objective = Objective::traffic};
    MapOptions all_room = options;
    all_room.all_room = true;
    const auto some = workload->cost(machine(kib), options);
    const auto all = workload->cost(machine(kib), all_room);
    ASSERT_TRUE(some.ok() && all.ok());
    EXPECT_LE(all->dram_read_bytes + all->dram_write_bytes,
              some->dram_read_bytes + some->dram_write_bytes)
        << kib;
  }
}

}  // namespace
}  // namespace accsim::sim
