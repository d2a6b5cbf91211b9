#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "hw/golden/golden.h"

namespace accsim::hw {
namespace {

constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
constexpr int32_t kMax = std::numeric_limits<int32_t>::max();

TEST(Requantise, DoHalvesGoAwayFromZero) {
  const Requantise half{.bias = 0, .multiplier = 1, .shift = 1};
  EXPECT_EQ(requantise(5, half), 3);
  EXPECT_EQ(requantise(-5, half), -3);
  EXPECT_EQ(requantise(1, half), 1);
  EXPECT_EQ(requantise(-1, half), -1);
  EXPECT_EQ(requantise(4, half), 2);
  EXPECT_EQ(requantise(-4, half), -2);
  const Requantise quarter{.bias = 0, .multiplier = 1, .shift = 2};
  EXPECT_EQ(requantise(5, quarter), 1);
  EXPECT_EQ(requantise(-5, quarter), -1);
  EXPECT_EQ(requantise(7, quarter), 2);
  EXPECT_EQ(requantise(-7, quarter), -2);
}

TEST(Requantise, IsShiftZeroExact) {
  EXPECT_EQ(requantise(40, {.bias = -7, .multiplier = 3, .shift = 0}), 99);
  EXPECT_EQ(requantise(-40, {.bias = 7, .multiplier = 3, .shift = 0}), -99);
  EXPECT_EQ(requantise(33, {.bias = 0, .multiplier = -3, .shift = 0}), -99);
}

TEST(Requantise, DoesItSaturateAtBothEnds) {
  const Requantise one{.bias = 0, .multiplier = 1, .shift = 0};
  EXPECT_EQ(requantise(127, one), 127);
  EXPECT_EQ(requantise(128, one), 127);
  EXPECT_EQ(requantise(-128, one), -128);
  EXPECT_EQ(requantise(-129, one), -128);
  EXPECT_EQ(requantise(kMax, {.bias = 0, .multiplier = kMax, .shift = 0}), 127);
  EXPECT_EQ(requantise(kMin, {.bias = 0, .multiplier = kMax, .shift = 0}), -128);
  EXPECT_EQ(requantise(kMin, {.bias = 0, .multiplier = kMin, .shift = 0}), 127);
}

TEST(Requantise, DoesTheWholeProductSurviveTheLongestShift) {
  // 2^62 / 2^62, and 2^31 * (2^31 - 1) / 2^62 just below one.
  EXPECT_EQ(requantise(kMin, {.bias = 0, .multiplier = kMin, .shift = 62}), 1);
  EXPECT_EQ(requantise(kMin, {.bias = 0, .multiplier = kMax, .shift = 62}), -1);
  EXPECT_EQ(requantise(1 << 30, {.bias = 0, .multiplier = kMax, .shift = 62}), 0);
  EXPECT_EQ(requantise(kMin, {.bias = 0, .multiplier = 1 << 30, .shift = 62}), -1);  // -0.5
}

TEST(Requantise, DoesTheBiasWrapAt32Bits) {
  EXPECT_EQ(requantise(kMax, {.bias = 1, .multiplier = 1, .shift = 25}), -64);
  EXPECT_EQ(requantise(kMin, {.bias = -1, .multiplier = 1, .shift = 25}), 64);
}

TEST(Requantise, IsTheZeroPointAddedAfterRoundingAndBeforeTheClip) {
  const Requantise half{.bias = 0, .multiplier = 1, .shift = 1}, one{0, 1, 0};
  const Epilogue e{.zero = -3};
  EXPECT_EQ(requantise(5, half, e), 0);  // 3 - 3, not round(2.5 - 3)
  EXPECT_EQ(requantise(-5, half, e), -6);
  EXPECT_EQ(requantise(260, half, e), 127);
  EXPECT_EQ(requantise(-252, half, e), -128);
  EXPECT_EQ(requantise(-200, one, {.zero = 5, .low = 5}), 5);
  EXPECT_EQ(requantise(50, one, {.low = 0, .high = 6}), 6);
}

TEST(Requantise, DoesReluClipAtTheZeroPoint) {
  Epilogue e;
  EXPECT_EQ(e.lowest_result(), -128);
  e.relu = true;
  EXPECT_EQ(e.lowest_result(), 0);
  EXPECT_EQ(e.clip_result(-1), 0);
  e.zero = -20;
  EXPECT_EQ(e.lowest_result(), -20);
  e.low = 3;
  EXPECT_EQ(e.lowest_result(), 3);
}

/// The real quotient lies within half a step of the result, and exactly half only away from zero.
TEST(Requantise, IsTheErrorAtMostHalfAStep) {
  std::mt19937 random(5);
  for (int round = 0; round < 20000; ++round) {
    const int32_t sum = static_cast<int32_t>(random()) >> (random() % 31);
    const Requantise r{.bias = 0,
                       .multiplier = static_cast<int32_t>(random()) >> (random() % 31),
                       .shift = static_cast<int32_t>(random() % 40)};
    const int64_t product = int64_t{sum} * r.multiplier, divisor = int64_t{1} << r.shift;
    if (std::abs(product) / divisor >= 127) continue;
    const int64_t twice_error = 2 * (requantise(sum, r) * divisor - product);
    ASSERT_LE(std::abs(twice_error), divisor);
    if (std::abs(twice_error) == divisor && r.shift > 0) {
      ASSERT_EQ(twice_error > 0, product > 0);
    }
  }
}

}  // namespace
}  // namespace accsim::hw
