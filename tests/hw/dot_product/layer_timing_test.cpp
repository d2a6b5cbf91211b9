#include "hw/dot_product/layer_timing.h"

#include <gtest/gtest.h>

#include <random>

#include "hw/dot_product/read_port.h"
#include "hw/dot_product/stripe_timer.h"
#include "tests/hw/dot_product/measured.h"

namespace accsim::hw {
namespace {

/// One read after the other by the rules of docs/dot-product.md: cycles of weights, of features.
std::array<std::vector<int64_t>, 2> read_one_by_one(const ReadRequests& demand, int64_t interval) {
  std::array<std::vector<int64_t>, 2> reads;
  auto& [weights, features] = reads;
  bool features_turn = false;
  const int64_t end = demand.weights.back().cycle + demand.features_begin + 10'000;
  for (int64_t cycle = 0; cycle < end;) {
    int64_t allowed = 0;
    for (const EntriesFrom& from : demand.weights)
      if (from.cycle <= cycle) allowed = std::max(allowed, from.entries);
    const bool want_weights = static_cast<int64_t>(weights.size()) < allowed;
    const bool want_features =
        cycle >= demand.features_begin && static_cast<int64_t>(features.size()) < demand.features;
    if (!want_weights && !want_features) {
      ++cycle;
      continue;
    }
    const bool feature = want_features && (features_turn || !want_weights);
    (feature ? features : weights).push_back(cycle);
    features_turn = !feature;
    cycle += interval;
  }
  return reads;
}

TEST(DotProductReads, AreRunsTheReadsOneByOne) {
  std::mt19937 random(1);
  const auto draw = [&](int64_t most) {
    return std::uniform_int_distribution<int64_t>(0, most)(random);
  };
  for (int i = 0; i < 2000; ++i) {
    DotProductEngine engine;
    engine.request_interval = 1 + draw(3);
    ReadRequests demand{1 + draw(60), draw(150), {}};
    EntriesFrom from{draw(100), 1 + draw(20)};
    for (int64_t steps = draw(5); steps >= 0; --steps) {
      demand.weights.push_back(from);
      from = {from.cycle + draw(60), from.entries + draw(20)};
    }
    ReadPort port(engine);
    port.begin_layer(demand);
    const auto [weights, features] = read_one_by_one(demand, engine.request_interval);
    for (size_t n = 0; n < weights.size(); ++n)
      ASSERT_EQ(port.weight_read(static_cast<int64_t>(n) + 1), weights[n]) << i;
    ASSERT_EQ(port.last_feature_read(), features.back()) << i;
    ASSERT_EQ(port.first_read(), std::min(weights.front(), features.front())) << i;
    ASSERT_EQ(port.last_read(), std::max(weights.back(), features.back())) << i;
  }
}

/// Stripes given one by one can't be skipped.
TEST(DotProductStripes, AreSkippedStripesThoseOneByOne) {
  std::mt19937 random(2);
  const auto draw = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  int64_t stepped = 0;
  for (int i = 0; i < 500; ++i) {
    DotProductEngine engine;
    engine.stripe = draw(1, 16);
    engine.places = engine.stripe * draw(1, 4) + draw(0, 7);
    engine.atom_cycles = draw(1, 12);
    engine.issue_to_atom = draw(0, 60);
    engine.atom_to_place = draw(0, 60);
    const GroupStripes group{draw(1, 20), draw(1, 16), draw(0, 100)};
    const int64_t number = draw(1, 400);
    StripeTimer skipping(engine), stepping(engine);
    skipping.run_group({StripeRun{engine.stripe, number}, {}, {}}, group);
    for (int64_t n = 0; n < number; ++n)
      stepping.run_group({StripeRun{engine.stripe, 1}, {}, {}},
                         {group.blocks, group.load_cycles, n == 0 ? group.there : 0});
    ASSERT_EQ(skipping.last_atom(), stepping.last_atom()) << i;
    ASSERT_EQ(skipping.blocks_end(), stepping.blocks_end()) << i;
    ASSERT_EQ(skipping.last_load(), stepping.last_load()) << i;
    ASSERT_EQ(skipping.first_atom(), stepping.first_atom()) << i;
    stepped += skipping.stepped();
  }
  EXPECT_LT(stepped, 500 * 20);  // of 100,000
}

/// Section "In closed form": the longer of its blocks and of the way of its atoms.
TEST(DotProductTiming, IsAFullStripeAsLongAsThePageSays) {
  for (const int64_t blocks : {1, 5, 11, 12, 40}) {
    const auto cycles = [&](int64_t stripes) {
      return time_layer({{1, 1, 8 * blocks, 8, 1, 1, 16, stripes}, {16, 16}}, kSmall)->last_write;
    };
    EXPECT_EQ(cycles(30) - cycles(20), 10 * std::max<int64_t>(16 * blocks, 15 * 9 + 36 + 11));
  }
}

/// A million million outputs cost no more than a few.
TEST(DotProductTiming, IsALargeLayerTimedAtOnce) {
  const int64_t stripes = int64_t{1} << 40;
  const auto cycles = [&](int64_t number) {
    return time_layer({{1, 1, 8, 8, 1, 1, 16, number}, {1, 1}}, kSmall)->last_write;
  };
  EXPECT_EQ(cycles(stripes) - cycles(100), (stripes - 100) * 182);
}

/// The first block waits for the later of weights and features; the next group for its weights.
TEST(DotProductTiming, IsTheWaitForReadsThatOfTheFirstBlocks) {
  const LayerEvents one = *time_layer({{1, 1, 8, 8, 1, 1, 1, 1}, {1, 1}}, kSmall);
  const int64_t weights = *one.last_weight_read + kSmall.read_latency;
  const int64_t features = one.last_feature_read + kSmall.read_latency + kSmall.feature_latency;
  EXPECT_EQ(one.read_wait, std::max(weights, features));
  // 64 groups of 64 channels: 512 bytes at 4 bytes per cycle for 8 blocks of 8 cycles.
  const LayerEvents many = *time_layer({{1, 1, 64, 512, 1, 1, 1, 1}, {1, 16}}, kSmall);
  const int64_t loaded = *many.last_weight_read + kSmall.read_latency + 8;  // the last group's
  EXPECT_EQ(many.read_wait + 63 * 64, loaded - 8);
}

TEST(DotProductTiming, AreDependentLayersAdded) {
  const DotProductLayer one{{8, 8, 16, 16, 3, 3, 8, 8}, {8, 8}};
  const DotProductLayer other{{8, 8, 32, 8, 1, 1, 8, 8}, {4, 8}};
  const int64_t sum = time_layer(one, kSmall)->last_write + time_layer(other, kSmall)->last_write;
  const std::array layers{one, other};
  EXPECT_EQ(*time_one_by_one(layers, kSmall), Cycles(sum));
  EXPECT_LT(time_overlapped(layers, kSmall)->back().last_write, sum);
}

TEST(DotProductTiming, AreKeptWeightsForTheNextLayerAlone) {
  DotProductLayer first{{8, 8, 16, 16, 3, 3, 8, 8}, {8, 8}}, second = first;
  first.keeps_weights = second.has_weights = true;
  const auto is_timed = [](std::vector<DotProductLayer> layers) {
    return time_overlapped(layers, kSmall).ok();
  };
  EXPECT_TRUE(is_timed({first, second}));
  EXPECT_FALSE(is_timed({second}));
  EXPECT_FALSE(is_timed({first, first}));
  EXPECT_FALSE(is_timed({second, second}));
  second.banks.weights = 9;
  EXPECT_FALSE(is_timed({first, second}));
}

}  // namespace
}  // namespace accsim::hw
