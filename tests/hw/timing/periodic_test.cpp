#include "hw/timing/periodic.h"

#include <gtest/gtest.h>

namespace accsim {
namespace {

constexpr int64_t kUnit = PeriodDetector::kTagRange;

std::vector<int64_t> state(int64_t shape, int64_t end, int64_t a, int64_t b) {
  return {shape, end * kUnit, a * kUnit, b * kUnit};
}

TEST(PeriodDetector, NeedsTheSameGrowthTwice) {
  PeriodDetector d;
  d.record(state(0, 10, 5, 7), {1});
  EXPECT_EQ(d.period(), 0);
  d.record(state(0, 13, 8, 7), {2});
  EXPECT_EQ(d.period(), 0);
  d.record(state(0, 16, 11, 7), {3});
  EXPECT_EQ(d.period(), 1);
}

TEST(PeriodDetector, RefusesUnevenGrowth) {
  PeriodDetector d;
  for (int64_t i = 0; i < 20; ++i) d.record(state(0, 3 * i, 3 * i, 2 * i), {i});
  EXPECT_EQ(d.period(), 0) << "one entry falls behind: it may stop mattering later";
}

TEST(PeriodDetector, RefusesAnEndThatStandsStill) {
  PeriodDetector d;
  for (int64_t i = 0; i < 20; ++i) d.record(state(0, 1000, 3 * i, 0), {i});
  EXPECT_EQ(d.period(), 0) << "the growing entries will overtake it";
}

TEST(PeriodDetector, RefusesChangingTokenCountsAndTags) {
  PeriodDetector counts, tags;
  for (int64_t i = 0; i < 40; ++i) {
    counts.record(state(i, 3 * i, 3 * i, 0), {i});
    auto s = state(0, 3 * i, 3 * i, 0);
    if (i == 39) s[2] += 1;  // the same time, for another reason
    tags.record(s, {i});
  }
  EXPECT_EQ(counts.period(), 0);
  EXPECT_EQ(tags.period(), 0);
}

TEST(PeriodDetector, FindsLongerPeriodsAndSkipsThem) {
  PeriodDetector d;
  const int64_t steps[] = {1, 4, 2};
  int64_t now = 0;
  for (int i = 0; i < 7; ++i) {
    now += steps[i % 3];
    d.record(state(0, now, now, 0), {2 * now});
  }
  ASSERT_EQ(d.period(), 3);
  auto s = state(0, now, now, 0);
  std::vector<int64_t> sums = {2 * now};
  d.skip(3, 100, s, sums);
  EXPECT_EQ(s, state(0, now + 700, now + 700, 0));
  EXPECT_EQ(sums[0], 2 * (now + 700));
}

}  // namespace
}  // namespace accsim
