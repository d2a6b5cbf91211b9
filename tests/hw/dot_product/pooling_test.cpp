#include "hw/dot_product/pooling.h"

#include <gtest/gtest.h>

#include "tests/hw/dot_product/measured_side.h"

namespace accsim::hw {
namespace {

constexpr int64_t kWay = 20 + 32 + 33;  // of an atom, without pooling

int64_t cycles(const PoolLayer& layer) { return time_pooling(layer, kSmallUnits)->last_write; }

/// Pads on the left and above cost nothing: an output leaves with the last input that it needs.
TEST(Pooling, IsAsLongAsItsInputsWhereNoOutputIsFlushed) {
  // ResNet's: 3x3, stride 2, pad 1.
  EXPECT_EQ(cycles({112, 112, 64, 3, 3, 2, 2, 1, 1, 56, 56, {}}), kWay + 112 * 112 * 64);
  // VGG's: 2x2, stride 2.
  EXPECT_EQ(cycles({112, 112, 128, 2, 2, 2, 2, 0, 0, 56, 56, {}}), kWay + 112 * 112 * 128);
  // A global average of 7x7: each surface has one output.
  EXPECT_EQ(cycles({7, 7, 2048, 7, 7, 1, 1, 0, 0, 1, 1, {}}), kWay + 7 * 7 * 2048);
}

/// Windows of stride 1 that end behind the inputs: a column of outputs, and a line of them, come
/// after the last input. In between they come with the inputs that no output of their own has.
TEST(Pooling, FlushesWhatEndsBehindTheInputs) {
  EXPECT_EQ(cycles({8, 8, 64, 2, 2, 1, 1, 0, 0, 8, 8, {}}), kWay + 8 * 8 * 64 + 8 + 8 * 8);
  // 3x3, stride 1, pad 1: the next line's second column has its first output.
  EXPECT_EQ(cycles({28, 28, 16, 3, 3, 1, 1, 1, 1, 28, 28, {}}), kWay + 28 * 28 * 16 + 8 + 28 * 8);
}

/// What can't wait holds the inputs up: 4 pads of 8 taps leave one output to each next line.
TEST(Pooling, IsHeldUpByWhatTheNextLineLeavesNoTimeFor) {
  const PoolLayer layer{12, 9, 8, 8, 3, 2, 2, 6, 2, 8, 5, {}};
  EXPECT_EQ(cycles(layer), kWay + 12 * 9 * 8 + 8 * 8 + 2 * 8);
}

TEST(Pooling, HoldsALineOfOneOutputUpTheNextOne) {
  EXPECT_EQ(cycles({1, 40, 8, 1, 2, 1, 2, 0, 0, 1, 20, {}}), kWay + 40 * 8 + 39 * 3);
  EXPECT_EQ(cycles({2, 40, 8, 2, 2, 1, 2, 0, 0, 1, 20, {}}), kWay + 2 * 40 * 8);
}

TEST(Pooling, ReadsStripsOneAfterTheOther) {
  // 16 columns in strips of 8 and 2 + 8, as 4 taps of stride 2 have 2 columns in common.
  const PoolLayer layer{16, 6, 16, 4, 2, 2, 2, 0, 0, 7, 3, {{8, 3}, {10, 4}}};
  EXPECT_EQ(cycles(layer), kWay + 18 * 6 * 16);
}

/// 24 columns of 8 taps keep 3 lines open: two banks of 16 atoms for each.
TEST(Pooling, IsALineThatDoesNotFitRefused) {
  const PoolLayer fits{25, 16, 8, 8, 8, 1, 3, 7, 6, 32, 8, {}};
  EXPECT_TRUE(time_pooling(fits, kSmallUnits));
  PoolLayer wide = fits;
  wide.width = 26;
  wide.out_width = 33;
  EXPECT_EQ(time_pooling(wide, kSmallUnits).errors().front().code, Errc::capacity);
  wide.strips = {{16, 16}, {17, 17}};
  EXPECT_TRUE(time_pooling(wide, kSmallUnits));
}

/// Strips of equal outputs, of which each reads what its windows need: 2 of 17 and 16 where 32 fit.
TEST(Pooling, CutsWhatDoesNotFitIntoTheFewestStrips) {
  PoolLayer layer{26, 16, 8, 8, 8, 1, 3, 7, 6, 33, 8, {}};
  const std::vector<PoolStrip> strips = fewest_strips(layer, kSmallUnits);
  EXPECT_EQ(strips, (std::vector<PoolStrip>{{15 + 8 - 7, 16}, {26 - (16 - 7), 17}}));
  layer.strips = strips;
  EXPECT_TRUE(time_pooling(layer, kSmallUnits));
  layer.out_width = 32;
  EXPECT_TRUE(fewest_strips(layer, kSmallUnits).empty());
  // One open line has all 8 banks of 16 atoms: 300 outputs are 3 strips.
  PoolLayer wide{600, 4, 8, 2, 2, 2, 2, 0, 0, 300, 2, {}};
  wide.strips = fewest_strips(wide, kSmallUnits);
  EXPECT_EQ(wide.strips, (std::vector<PoolStrip>{{200, 100}, {200, 100}, {200, 100}}));
  EXPECT_EQ(cycles(wide), kWay + 600 * 4 * 8);
}

TEST(Pooling, AreLayersThatAreNoneRefused) {
  const PoolLayer good{8, 8, 8, 2, 2, 2, 2, 0, 0, 4, 4, {}};
  const auto is_refused = [&](auto change) {
    PoolLayer layer = good;
    change(layer);
    return !time_pooling(layer, kSmallUnits).ok();
  };
  EXPECT_FALSE(is_refused([](PoolLayer&) {}));
  EXPECT_TRUE(is_refused([](PoolLayer& l) { l.channels = 0; }));
  EXPECT_TRUE(is_refused([](PoolLayer& l) { l.kernel_width = kMostPoolTaps + 1; }));
  EXPECT_TRUE(is_refused([](PoolLayer& l) { l.stride_y = kMostPoolStride + 1; }));
  EXPECT_TRUE(is_refused([](PoolLayer& l) { l.pad_left = 2; }));
  EXPECT_TRUE(is_refused([](PoolLayer& l) { l.out_height = 5; }));
  EXPECT_TRUE(is_refused([](PoolLayer& l) { l.strips = {{8, 3}}; }));
  EXPECT_TRUE(is_refused([](PoolLayer& l) { l.strips = {{3, 2}, {5, 2}}; }));
  // Columns that no strip has, and strips beyond the line.
  EXPECT_FALSE(is_refused([](PoolLayer& l) { l.strips = {{4, 2}, {4, 2}}; }));
  EXPECT_TRUE(is_refused([](PoolLayer& l) { l.strips = {{4, 2}, {3, 2}}; }));
  EXPECT_TRUE(is_refused([](PoolLayer& l) { l.strips = {{9, 2}, {4, 2}}; }));
  EXPECT_TRUE(is_refused([](PoolLayer& l) { l.strips = {{4, 2}, {5, 2}}; }));
  EXPECT_TRUE(is_refused([](PoolLayer& l) { l.out_width = int64_t{1} << 62; }));
}

}  // namespace
}  // namespace accsim::hw
