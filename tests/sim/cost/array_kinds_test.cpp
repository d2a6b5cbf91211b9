#include "sim/cost/array_kinds.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hw/config/load.h"
#include "sim/cost/cost.h"
#include "sim/cost/workload.h"
#include "sim/elaborate/elaborate.h"
#include "tests/support/models.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

using hw::Dataflow;
using test::ModelBuilder;

hw::HwConfig machine_of(std::vector<Dataflow> dataflows) {
  hw::HwConfig hw = *hw::load_hw(kSource + "/configs/8x8.yaml");
  hw.array.dataflows = std::move(dataflows);
  return hw;
}

const std::vector<Dataflow> kAll = {Dataflow::weight_stationary, Dataflow::input_stationary,
                                    Dataflow::output_stationary};

/// Of many rows and few channels, of which weights that stay take the least energy, and the other
/// way round.
void add_wide(ModelBuilder& b) {
  b.input("a", {2048, 8}).weight("v", {8, 8});
  b.node("MatMul", {"a", "v"}, {"wide"}).output("wide");
}
void add_deep(ModelBuilder& b) {
  b.input("b", {8, 4096}).weight("w", {4096, 8});
  b.node("MatMul", {"b", "w"}, {"deep"}).output("deep");
}

Graph graph_of(const ModelBuilder& builder) {
  Result<Graph> graph = elaborate(builder.model(), {});
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.errors().front().text());
  return graph.ok() ? std::move(*graph) : Graph{};
}

Graph both() {
  ModelBuilder b;
  add_wide(b);
  add_deep(b);
  return graph_of(b);
}

const MapOptions kEnergy{.objective = Objective::energy};

double picojoules(const Graph& graph, const hw::HwConfig& hw) {
  const auto network = cost_network(graph, hw, kEnergy);
  EXPECT_TRUE(network.ok()) << (network.ok() ? "" : network.errors().front().text());
  return network.ok() ? network->report.totals.energy.total_pj() : -1;
}

TEST(ArrayKinds, TwoWaysWhereTheMachineHasBothKinds) {
  EXPECT_EQ(one_array_each(machine_of(kAll), {}).size(), 2U);
  EXPECT_EQ(one_array_each(machine_of({Dataflow::output_stationary}), {}).size(), 1U);
  EXPECT_EQ(
      one_array_each(machine_of({Dataflow::weight_stationary, Dataflow::input_stationary}), {})
          .size(),
      1U);
}

TEST(ArrayKinds, OptionsLeaveOne) {
  const auto ways = one_array_each(machine_of(kAll), {.dataflows = {Dataflow::input_stationary}});
  ASSERT_EQ(ways.size(), 1U);
  EXPECT_FALSE(ways[0].sums_stay.has_value());
}

TEST(ArrayKinds, ANetworkIsOneProgramThatACoreCanRun) {
  const hw::HwConfig hw = machine_of(kAll);
  const hw::HwConfig held = machine_of({kAll[0], kAll[1]}), sums = machine_of({kAll[2]});
  ModelBuilder wide, deep;
  add_wide(wide);
  add_deep(deep);
  // Each alone is better in the other way.
  ASSERT_LT(picojoules(graph_of(wide), held), picojoules(graph_of(wide), sums));
  ASSERT_GT(picojoules(graph_of(deep), held), picojoules(graph_of(deep), sums));

  const Graph graph = both();
  const auto network = cost_network(graph, hw, kEnergy);
  ASSERT_TRUE(network.ok());
  EXPECT_EQ(network->report.totals.energy.total_pj(),
            std::min(picojoules(graph, held), picojoules(graph, sums)));
  std::vector<bool> stay;
  for (const auto& mappings : network->mappings)
    for (const auto& m : mappings)
      if (m->source_as<GemmSource>()) stay.push_back(hw::sums_stay(m->program.dataflow));
  ASSERT_EQ(stay.size(), 2U);
  EXPECT_EQ(stay[0], stay[1]);
}

TEST(ArrayKinds, SweepsTakeTheSame) {
  const hw::HwConfig hw = machine_of(kAll);
  auto workload = Workload::prepare(both());
  ASSERT_TRUE(workload.ok());
  for (const Objective objective : {Objective::cycles, Objective::energy, Objective::edp})
    for (const MapEffort effort : {MapEffort::search, MapEffort::rule}) {
      const MapOptions options{.objective = objective, .effort = effort};
      const auto totals = workload->cost(hw, options);
      const auto network = cost_network(both(), hw, options);
      ASSERT_TRUE(totals.ok() && network.ok());
      EXPECT_EQ(totals->cycles, network->report.totals.cycles);
    }
}

TEST(ArrayKinds, PinsOfBothKindsAreRefused) {
  const auto error_of = [](const std::vector<std::string>& pins) {
    MapOptions options;
    for (const std::string& text : pins) {
      auto pin = parse_pin(text);
      EXPECT_TRUE(pin.ok());
      if (pin) options.pins.push_back(std::move(*pin));
    }
    const auto network = cost_network(both(), machine_of({kAll[0]}), options);
    return network.ok() ? "" : network.errors().front().text();
  };
  EXPECT_EQ(error_of({"os"}), "");
  EXPECT_EQ(error_of({"deep=os", "wide=os"}), "");
  for (const auto& pins : {std::vector<std::string>{"deep=os"}, {"deep=os", "wide=ws"}})
    EXPECT_NE(error_of(pins).find("layer 'deep'"), std::string::npos) << error_of(pins);
}

}  // namespace
}  // namespace accsim::sim
