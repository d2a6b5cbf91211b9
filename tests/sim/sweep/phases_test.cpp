#include "sim/sweep/phases.h"

#include <gtest/gtest.h>

#include <array>

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

// Columns: phase, runs, tokens, cycles, energy, read, written, weights, cache.
const PhaseTotals kStep{Phase::decode, 1, 4, 100, 1.5, 10, 20, 1000, 50};

TEST(SumPhases, ARunThatIsRepeatedGivesAsManyTokens) {
  const PhaseShare thrice{kStep, 3};
  const std::vector<PhaseTotals> expected = {
      {Phase::decode, 3, 3 * 4, 3 * 100, 3 * 1.5, 3 * 10, 3 * 20, 1000, 50}};
  EXPECT_EQ(sum_phases({&thrice, 1}), expected) << "memory is what one run needs";
  const std::array<PhaseShare, 3> listed = {{{kStep, 1}, {kStep, 1}, {kStep, 1}}};
  EXPECT_EQ(sum_phases(listed), expected) << "weight 3, or listed thrice";
}

TEST(SumPhases, RunsOfDifferentSizesAreAMix) {
  const PhaseTotals longer{Phase::decode, 1, 4, 130, 2.5, 15, 20, 1000, 90};
  const PhaseTotals prompt{Phase::prefill, 1, 2, 900, 9, 5, 5, 1000, 0};
  const std::array<PhaseShare, 3> networks = {{{kStep, 3}, {prompt, 1}, {longer, 2}}};
  const std::vector<PhaseTotals> expected = {{Phase::decode, 3 + 2, 5 * 4, 3 * 100 + 2 * 130,
                                              3 * 1.5 + 2 * 2.5, 3 * 10 + 2 * 15, 5 * 20, 1000, 90},
                                             prompt};
  EXPECT_EQ(sum_phases(networks), expected);
}

TEST(SumPhases, NetworksWithoutTokensArePartsOfARun) {
  const PhaseTotals layer{Phase::decode, 1, 0, 7, 0.5, 1, 2, 30, 6};
  const std::array<PhaseShare, 2> networks = {{{layer, 32}, {kStep, 1}}};
  const std::vector<PhaseTotals> expected = {{Phase::decode, 1, 4, 32 * 7 + 100, 32 * 0.5 + 1.5,
                                              32 * 1 + 10, 32 * 2 + 20, 30 + 1000, 6 + 50}};
  EXPECT_EQ(sum_phases(networks), expected);
}

}  // namespace
}  // namespace accsim::sim
