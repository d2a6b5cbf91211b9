#include "sim/sweep/sensitivity.h"

#include <gtest/gtest.h>

namespace accsim::sim {
namespace {

const std::vector<double> kFirst = {3, 5, 4}, kSecond = {0, -2, 7, 1};
const std::vector<size_t> kSteps = {3, 4};

/// Differences within an axis; a constant may lie in any of them.
void expect_effects(const std::vector<Levels>& points) {
  std::vector<double> values;
  for (const Levels& p : points) values.push_back(kFirst[p[0]] + kSecond[p[1]]);
  const auto found = main_effects(points, values, kSteps);
  ASSERT_EQ(found.size(), 2u);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(found[0][i] - found[0][0], kFirst[i] - kFirst[0], 1e-6);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(found[1][i] - found[1][0], kSecond[i] - kSecond[0], 1e-6);
}

TEST(Sensitivity, OverAGridIsTheDifferenceOfTheMeans) {
  std::vector<Levels> points;
  for (size_t a = 0; a < 3; ++a)
    for (size_t b = 0; b < 4; ++b) points.push_back({a, b});
  expect_effects(points);
}

/// As near a front: large with large, small with small, so that plain means mislead.
TEST(Sensitivity, OfOneAxisIsNotTakenForThatOfAnother) {
  expect_effects({{0, 0}, {0, 0}, {0, 1}, {1, 1}, {1, 2}, {2, 2}, {2, 3}, {2, 3}});
}

TEST(Sensitivity, OfOneValueOrOnePointIsNone) {
  const std::vector<Levels> one = {{1, 2}};
  const std::vector<double> value = {42};
  const auto found = main_effects(one, value, kSteps);
  EXPECT_EQ(found[0].size(), 3u);
  EXPECT_EQ(found[1].size(), 4u);
  const std::vector<Levels> same = {{0}, {0}};
  const std::vector<double> two = {1, 3};
  const std::vector<size_t> single = {1};
  EXPECT_NEAR(main_effects(same, two, single)[0][0], 2, 1e-9);
}

}  // namespace
}  // namespace accsim::sim
