#include "sim/lower/expert_gathers.h"

#include <gtest/gtest.h>

#include "tests/sim/lower/laid_out.h"

namespace accsim::sim {
namespace {

using test::LaidOut;
using test::ModelBuilder;

constexpr int64_t kExperts = 8, kChosen = 2, kIn = 64, kOut = 128;

/// Rows of `tokens` tokens, each for its own experts, whose weights a router's TopK picks.
ModelBuilder experts_of(int64_t tokens) {
  ModelBuilder b;
  b.input("scores", {tokens, kExperts}).input("rows", {tokens * kChosen, 1, kIn});
  b.constant("k", {1}, {kChosen}).constant("flat", {1}, {tokens * kChosen});
  b.weight("w", {kExperts, kIn, kOut});
  b.node("TopK", {"scores", "k"}, {"best", "at"}).output("best");
  b.node("Reshape", {"at", "flat"}, {"index"}).node("Gather", {"w", "index"}, {"picked"});
  b.node("MatMul", {"rows", "picked"}, {"y"}).output("y");
  return b;
}

TEST(ExpertGathers, AreWeightsReadWhereTheyLie) {
  const LaidOut net(experts_of(1));
  EXPECT_EQ(net.layer("picked").fate, Fate::view);
  EXPECT_EQ(net.layer("y").inputs.at(1), net.id("w"));
  EXPECT_EQ(net.gemm("y").batch, kChosen);
  EXPECT_EQ(net.gemm("y").m(), 1);
  EXPECT_TRUE(net.moves().empty());
}

TEST(ExpertGathers, AreWeightsOfSeveralTokensReadOnce) {
  constexpr int64_t kTokens = 16;  // 8 (1 - (3/4)^16) = 7.92 experts are expected
  const LaidOut net(experts_of(kTokens));
  EXPECT_EQ(net.gemm("y").batch, kExperts);
  EXPECT_EQ(net.gemm("y").m(), kTokens * kChosen / kExperts);
  EXPECT_EQ(net.layer("y").macs, kTokens * kChosen * kIn * kOut);
  EXPECT_EQ(macs_of(net.layer("y").work), net.layer("y").macs);
  ASSERT_EQ(net.graph.assumed.size(), 1U);
  EXPECT_EQ(net.graph.assumed[0].of, "experts at work");
  EXPECT_EQ(net.graph.assumed[0].size, kExperts);
  EXPECT_TRUE(net.graph.assumed[0].of_cost);
}

TEST(ExpertGathers, AreUnevenRowsTwoGroups) {
  const LaidOut net(experts_of(5));  // 10 rows; 8 (1 - (3/4)^5) = 6.1 experts
  const Work& work = net.layer("y").work;
  ASSERT_EQ(work.size(), 2U);
  EXPECT_EQ(std::get<GemmOp>(work[0]).batch, 2);
  EXPECT_EQ(std::get<GemmOp>(work[0]).m(), 1);
  EXPECT_EQ(std::get<GemmOp>(work[1]).batch, 4);
  EXPECT_EQ(std::get<GemmOp>(work[1]).m(), 2);
  EXPECT_EQ(macs_of(work), 10 * kIn * kOut);
}

TEST(ExpertGathers, AreCopiedWhereSomebodyElseReadsThem) {
  ModelBuilder b = experts_of(1);
  b.node("Relu", {"picked"}, {"z"}).output("z");
  const LaidOut net(b);
  EXPECT_EQ(net.layer("picked").fate, Fate::memory);
  EXPECT_EQ(net.layer("y").inputs.at(1), net.id("picked"));
}

}  // namespace
}  // namespace accsim::sim
