#include "sim/sweep/phases.h"

#include <gtest/gtest.h>

#include "sim/elaborate/elaborate.h"
#include "tests/support/models.h"

namespace accsim::sim {
namespace {

hw::HwConfig machine(DType weight) {
  hw::HwConfig hw;
  hw.types.activation = DType::bfloat16;
  hw.types.weight = weight;
  return hw;
}

int64_t cache_of(const test::ModelBuilder& b) {
  const auto graph = elaborate(b.model(), {});
  EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
  return cache_memory(*graph, machine(DType::int8));
}

TEST(CacheMemory, IsWhatANetworkAppendsToAndGivesBack) {
  test::ModelBuilder b;
  b.input("past", {2, 4, 10, 8}).input("fresh", {2, 4, 1, 8}).input("side", {2, 4, 11, 8});
  b.node("Relu", {"fresh"}, {"key"});
  b.node("Concat", {"past", "key"}, {"present"}, {{"axis", "", int64_t{2}}}).output("present");
  b.node("Concat", {"side", "present"}, {"inner"}, {{"axis", "", int64_t{2}}});
  b.node("Relu", {"inner"}, {"y"}).output("y");
  EXPECT_EQ(cache_of(b), 2 * 4 * 10 * 8 * 2) << "bfloat16; what isn't given back is no cache";
}

TEST(WeightMemory, IsOfTheMachinesType) {
  Lowered lowered;
  lowered.params = 1000;
  EXPECT_EQ(weight_memory(lowered, machine(DType::int8)), 1000);
  EXPECT_EQ(weight_memory(lowered, machine(DType::int4)), 500);
  EXPECT_EQ(weight_memory(lowered, machine(DType::bfloat16)), 2000);
}

TEST(AddToPhase, SumsTheNetworksOfAPhase) {
  const PhaseTotals step{Phase::decode, 4, 100, 1.5, 10, 20, 1000, 50};
  const PhaseTotals head{Phase::decode, 4, 7, 0.5, 1, 2, 30, 0};
  const PhaseTotals prompt{Phase::prefill, 4, 900, 9, 5, 5, 1000, 0};
  std::vector<PhaseTotals> rows;
  add_to_phase(rows, step, 1);
  add_to_phase(rows, prompt, 1);
  add_to_phase(rows, head, 3);
  const std::vector<PhaseTotals> expected = {{Phase::decode, 4, 121, 3, 13, 26, 1030, 50}, prompt};
  EXPECT_EQ(rows, expected);
}

}  // namespace
}  // namespace accsim::sim
