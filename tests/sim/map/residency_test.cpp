#include "sim/map/residency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "sim/elaborate/elaborate.h"
#include "sim/lower/lay_out.h"
#include "tests/support/machines.h"
#include "tests/support/models.h"

namespace accsim::sim {
namespace {

/// x -> a -> b -> flat(view) -> y; a lives until the last node.
Graph chain() {
  test::ModelBuilder b;
  b.input("x", {64, 64});
  b.node("Neg", {"x"}, {"a"})
      .node("Abs", {"a"}, {"b"})
      .node("Flatten", {"b"}, {"flat"})
      .node("Add", {"flat", "a"}, {"y"})
      .output("y");
  auto graph = elaborate(b.model(), {});
  EXPECT_TRUE(graph.ok());
  return std::move(*graph);
}

std::vector<std::string> resident(const Graph& g, int64_t kib, int64_t* peak = nullptr) {
  hw::HwConfig hw = test::small_machine();
  hw.shared.kib = kib;
  const auto lowered = lower(g);
  EXPECT_TRUE(lowered.ok());
  const Residency r = plan_residency(g, *lowered, hw);
  if (peak) *peak = r.peak_bytes;
  EXPECT_LE(r.peak_bytes, kib * 1024);
  std::vector<std::string> out;
  for (size_t i = 0; i < g.tensors.size(); ++i)
    if (r.resident[i]) out.push_back(g.tensors[i].name);
  return out;
}

using Names = std::vector<std::string>;

TEST(Residency, KeepsWhatFitsAndNeverInputsOrOutputs) {
  const Graph g = chain();
  int64_t peak = 0;
  EXPECT_EQ(resident(g, 0), Names());
  EXPECT_EQ(resident(g, 4), Names({"a"})) << "4 KiB hold one of the two";
  EXPECT_EQ(resident(g, 8, &peak), Names({"a", "b", "flat"})) << "a view is where its tensor is";
  EXPECT_EQ(peak, 2 * 64 * 64);
}

TEST(Residency, SaysWhatIsAliveWhileEachLayerRuns) {
  const Graph g = chain();
  hw::HwConfig hw = test::small_machine();
  hw.shared.kib = 4;  // holds a, not b
  const Residency r = plan_residency(g, *lower(g), hw);
  constexpr int64_t kBytes = 64 * 64;
  std::vector<int64_t> live, shared;
  for (const MemoryUse& use : r.use) {
    live.push_back(use.live);
    shared.push_back(use.shared);
  }
  // x a | a b | a b, seen through the view | a b y
  EXPECT_EQ(live, (std::vector<int64_t>{2 * kBytes, 2 * kBytes, 2 * kBytes, 3 * kBytes}));
  EXPECT_EQ(shared, (std::vector<int64_t>{kBytes, kBytes, kBytes, kBytes}));
}

/// Integers that are given as floats are bytes of the machine's elements.
TEST(Residency, TakesIntegersForTheFloatsThatTheyAre) {
  const auto live = [](bool as_float) {
    test::ModelBuilder b;
    b.input("x", {64, 64}, DType::int64);
    if (as_float) b.node("Cast", {"x"}, {"f"}, {{"to", "", int64_t{1}}});
    b.node("Neg", {as_float ? "f" : "x"}, {"y"}).output("y");
    const auto g = elaborate(b.model(), {});
    EXPECT_TRUE(g.ok()) << g.errors().front().text();
    Lowered lowered = *lower(*g);
    lay_out(*g, lowered);
    return plan_residency(*g, lowered, test::small_machine()).use.front().live;
  };
  constexpr int64_t kElements = 64 * 64;
  EXPECT_EQ(live(true), kElements);
  EXPECT_EQ(live(false), (8 + 8) * kElements) << "x and y, integers";
}

TEST(Residency, OnlyAddsTensorsWhenTheBufferGrows) {
  test::ModelBuilder b;
  b.input("x", {16, 16});
  std::string last = "x";
  for (int i = 0; i < 12; ++i) {
    const std::string name = "t" + std::to_string(i);
    if (i % 3 == 0)
      b.node("Concat", {last, last}, {name}, {{"axis", "", int64_t{0}}});
    else
      b.node("Neg", {last}, {name});
    last = name;
  }
  b.output(last);
  const auto graph = elaborate(b.model(), {});
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  Names before;
  for (int64_t kib = 0; kib < 24; ++kib) {
    const Names now = resident(*graph, kib);
    for (const std::string& name : before)
      EXPECT_NE(std::find(now.begin(), now.end(), name), now.end()) << name << " at " << kib;
    before = now;
  }
  EXPECT_GT(before.size(), 5U);
}

/// Tensors with lives and sizes drawn at random: a Neg writes each, a Concat reads it later.
struct DrawnLives {
  struct Life {
    size_t first = 0, last = 0;
    int64_t bytes = 0;
  };
  std::vector<Life> lives;
  Graph graph;

  explicit DrawnLives(uint32_t seed) {
    std::mt19937 random(seed);
    const size_t count = 2 + random() % 30;
    std::vector<size_t> order;
    for (size_t i = 0; i < count; ++i) order.insert(order.end(), {i, i});
    std::shuffle(order.begin(), order.end(), random);
    lives.resize(count);
    std::vector<bool> written(count, false);
    test::ModelBuilder b;
    for (size_t at = 0; at < order.size(); ++at) {
      const size_t i = order[at];
      const std::string n = std::to_string(i);
      if (written[i]) {
        lives[i].last = at;
        b.node("Concat", {"t" + n, "t" + n}, {"y" + n}, {{"axis", "", int64_t{0}}});
        b.output("y" + n);
        continue;
      }
      written[i] = true;
      lives[i] = {at, at, 64 * static_cast<int64_t>(1 + random() % 40)};
      b.input("x" + n, {lives[i].bytes}).node("Neg", {"x" + n}, {"t" + n});
    }
    auto elaborated = elaborate(b.model(), {});
    EXPECT_TRUE(elaborated.ok());
    graph = std::move(*elaborated);
  }

  /// By the definition: tensor by tensor, layer by layer.
  bool fits(size_t i, int64_t capacity) const {
    for (size_t at = lives[i].first; at <= lives[i].last; ++at) {
      int64_t sum = 0;
      for (size_t k = 0; k < lives.size(); ++k) {
        const bool alive = lives[k].first <= at && at <= lives[k].last;
        if (alive &&
            std::pair(lives[k].bytes, lives[k].first) <= std::pair(lives[i].bytes, lives[i].first))
          sum += lives[k].bytes;
      }
      if (sum > capacity) return false;
    }
    return true;
  }
};

/// But for a few that have no place among the others.
TEST(Residency, IsThatOfTheDefinitionForDrawnLives) {
  int inside = 0, outside = 0, no_place = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const DrawnLives drawn(seed);
    for (const int64_t kib : {1, 2, 5, 11, 32}) {
      const Names names = resident(drawn.graph, kib);
      for (size_t i = 0; i < drawn.lives.size(); ++i) {
        const bool is = std::ranges::find(names, "t" + std::to_string(i)) != names.end();
        const bool fits = drawn.fits(i, kib * 1024);
        EXPECT_TRUE(fits || !is) << "seed " << seed << ", " << kib << " KiB, " << i;
        no_place += fits && !is;
        (is ? inside : outside)++;
      }
    }
  }
  EXPECT_GT(inside, 1000);
  EXPECT_GT(outside, 1000);
  EXPECT_LE(no_place, inside / 50);
}

/// What is alive at the same time has no byte in common, and all of it lies in the buffer.
TEST(Residency, GivesWhatIsAliveAddressesOfItsOwn) {
  hw::HwConfig hw = test::small_machine();
  int pairs = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const DrawnLives drawn(seed);
    for (const int64_t kib : {2, 5, 11, 32}) {
      hw.shared.kib = kib;
      const Residency r = plan_residency(drawn.graph, *lower(drawn.graph), hw);
      EXPECT_LE(r.peak_bytes, r.end);
      EXPECT_LE(r.end, kib * 1024);
      const auto address = [&](size_t i) {
        const std::string name = "t" + std::to_string(i);
        const auto is_it = [&](const Tensor& t) { return t.name == name; };
        const auto at = std::ranges::find_if(drawn.graph.tensors, is_it);
        return r.addresses[static_cast<size_t>(at - drawn.graph.tensors.begin())];
      };
      for (size_t i = 0; i < drawn.lives.size(); ++i)
        for (size_t k = 0; k < i; ++k) {
          const auto &x = drawn.lives[i], &y = drawn.lives[k];
          if (address(i) < 0 || address(k) < 0 || x.first > y.last || y.first > x.last) continue;
          EXPECT_TRUE(address(i) >= address(k) + y.bytes || address(k) >= address(i) + x.bytes)
              << "seed " << seed << ", " << kib << " KiB, " << i << " and " << k;
          ++pairs;
        }
    }
  }
  EXPECT_GT(pairs, 2000);
}

TEST(ElementBytes, FollowTheMachineForWhatItComputesWith) {
  hw::HwConfig hw = test::small_machine();
  EXPECT_EQ(element_bytes(hw, DType::float32), 1);
  EXPECT_EQ(element_bytes(hw, DType::int64), 8);
  EXPECT_EQ(element_bytes(hw, DType::boolean), 1);
  hw.types = {DType::float16, DType::float16, DType::float32};
  EXPECT_EQ(element_bytes(hw, DType::float32), 2);
}

}  // namespace
}  // namespace accsim::sim
