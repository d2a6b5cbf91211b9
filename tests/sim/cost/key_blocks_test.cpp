#include "sim/cost/key_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "hw/config/load.h"
#include "sim/cost/cost.h"
#include "sim/cost/workload.h"
#include "sim/elaborate/elaborate.h"
#include "tests/support/models.h"
#include "tests/support/source.h"

/// Long attention in blocks of keys where that is better, and only there.
namespace accsim::sim {
namespace {

using test::ModelBuilder;

Graph attention(int64_t queries, int64_t keys) {
  ModelBuilder b(17);
  b.input("q", {2, queries, 64}).input("k", {2, 64, keys}).input("v", {2, keys, 64});
  b.node("MatMul", {"q", "k"}, {"s"}).node("Softmax", {"s"}, {"p"});
  b.node("MatMul", {"p", "v"}, {"o"}).output("o");
  Result<Graph> graph = elaborate(b.model(), {});
  EXPECT_TRUE(graph.ok());
  return std::move(*graph);
}

hw::HwConfig machine(const std::string& name) {
  return *hw::load_hw(kSource + "/configs/" + name + ".yaml");
}

NetworkCost cost(const Graph& graph, const hw::HwConfig& hw, const MapOptions& options) {
  const auto network = cost_network(graph, hw, options);
  EXPECT_TRUE(network.ok());
  const Costs& c = network->report.totals;
  return {c.cycles, network->fewest_cycles, c.energy.total_pj(), c.dram_read + c.dram_write};
}

/// As half precision spells it out: the softmax is in float32.
Graph half_attention(int64_t queries, int64_t keys) {
  ModelBuilder b(17);
  for (const auto& [name, dims] : {std::pair<std::string, Dims>{"q", {2, queries, 64}},
                                   {"k", {2, 64, keys}},
                                   {"v", {2, keys, 64}}})
    b.input(name, dims, DType::float16);
  const std::vector<Attribute> whole{{"to", "", int64_t{1}}}, half{{"to", "", int64_t{10}}};
  b.node("MatMul", {"q", "k"}, {"s"}).node("Cast", {"s"}, {"s32"}, whole);
  b.node("Softmax", {"s32"}, {"p32"}).node("Cast", {"p32"}, {"p"}, half);
  b.node("MatMul", {"p", "v"}, {"o"}).output("o");
  Result<Graph> graph = elaborate(b.model(), {});
  EXPECT_TRUE(graph.ok());
  return std::move(*graph);
}

TEST(KeyBlocks, AreThoseOfFloatsInHalfPrecision) {
  const hw::HwConfig hw = machine("64x64");
  const Graph plain = attention(4096, kLongAttention);
  const Graph half = half_attention(4096, kLongAttention);
  const auto one = cost_network(plain, hw, {}), other = cost_network(half, hw, {});
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_NE(one->in_blocks, nullptr);
  EXPECT_NE(other->in_blocks, nullptr);
  EXPECT_EQ(other->report.totals.cycles, one->report.totals.cycles);
  const auto swept = Workload::prepare(half)->cost(hw, {});
  ASSERT_TRUE(swept.ok());
  EXPECT_EQ(swept->cycles, one->report.totals.cycles);
  const Result<Graph> asked = costed_graph(half, {.key_blocks = 1024});
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ(asked->key_blocks, costed_graph(plain, {.key_blocks = 1024})->key_blocks);
}

TEST(KeyBlocksToTry, AreOfLongAttentionOnly) {
  const hw::HwConfig hw = machine("64x64");
  const auto sizes = [&](const Graph& graph) {
    std::vector<int64_t> out;
    for (const Graph& g : in_key_blocks_to_try(graph, hw)) out.push_back(g.key_blocks);
    return out;
  };
  EXPECT_EQ(sizes(attention(64, kLongAttention)), (std::vector<int64_t>{1024, 2048}));
  EXPECT_TRUE(sizes(attention(64, kLongAttention - 1)).empty());
  // Scores and weights of a key are each written and read by every query; a key and its value are
  // 2 x 64 elements.
  EXPECT_TRUE(sizes(attention(32, kLongAttention)).empty());
  EXPECT_FALSE(sizes(attention(33, kLongAttention)).empty());
  EXPECT_TRUE(in_key_blocks_to_try(attention(64, kLongAttention), machine("16x16")).empty())
      << "without a shared buffer";
  Graph kept = attention(64, kLongAttention);
  kept.keeps_attention = true;
  EXPECT_TRUE(sizes(kept).empty());
}

/// By every objective the best of all that is tried, in a report as in a sweep.
TEST(KeyBlocksToTry, AreTakenWhereTheyAreBest) {
  Graph kept = attention(256, kLongAttention);
  const Graph given = kept;
  kept.keeps_attention = true;
  const hw::HwConfig hw = machine("64x64-starved");
  Workload workload = Workload::prepare(given).value();
  for (const Objective objective :
       {Objective::cycles, Objective::energy, Objective::edp, Objective::traffic}) {
    const MapOptions options{.objective = objective};
    NetworkCost best = cost(kept, hw, options);
    bool cut = false;
    for (const Graph& blocks : in_key_blocks_to_try(given, hw)) {
      const NetworkCost other = cost(blocks, hw, options);
      if (!is_better(other, best, options.objective_function())) continue;
      best = other;
      cut = true;
    }
    const auto taken = cost_network(given, hw, options);
    ASSERT_TRUE(taken.ok());
    EXPECT_EQ(taken->report.totals.cycles, best.cycles) << name(objective);
    EXPECT_EQ(taken->in_blocks != nullptr, cut) << name(objective);
    EXPECT_EQ(taken->report.key_blocks > 0, cut) << name(objective);
    const auto totals = workload.cost(hw, options);
    ASSERT_TRUE(totals.ok());
    EXPECT_EQ(totals->cycles, best.cycles) << name(objective);
    EXPECT_EQ(totals->dram_read_bytes + totals->dram_write_bytes, best.dram_bytes);
  }
}

TEST(KeyBlocksToTry, AreBetterByTheObjective) {
  const NetworkCost a{100, 100, 30, 5}, b{101, 101, 20, 5};
  EXPECT_TRUE(is_better(a, b, {.quantity = Objective::cycles}));
  EXPECT_TRUE(is_better(b, a, {.quantity = Objective::energy}));
  EXPECT_TRUE(is_better(b, a, {.quantity = Objective::edp})) << "2020 instead of 3000";
  EXPECT_FALSE(is_better(a, b, {.quantity = Objective::traffic})) << "equal";
  EXPECT_FALSE(is_better(b, a, {.quantity = Objective::traffic})) << "equal";
}

/// Slack is of the fewest cycles of both ways, not of what one of them already took.
TEST(KeyBlocksToTry, HaveTheSlackOfTheNetwork) {
  const ObjectiveFunction objective{.quantity = Objective::cycles, .slack = 0.01};
  const NetworkCost whole{1000, 995, 30, 5};
  EXPECT_TRUE(is_better({1004, 1004, 20, 5}, whole, objective))
      << "within 1 % of 995, and less energy";
  EXPECT_FALSE(is_better({1004, 1004, 30, 5}, whole, objective)) << "and no less of anything";
  EXPECT_FALSE(is_better({1005, 1005, 20, 5}, whole, objective)) << "beyond 1 % of 995";
  EXPECT_TRUE(is_better({990, 985, 90, 9}, whole, objective)) << "whole is beyond 1 % of 985";
}

}  // namespace
}  // namespace accsim::sim
