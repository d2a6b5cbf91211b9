#include "sim/validate/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace accsim::sim {
namespace {

using Values = std::vector<double>;

TEST(Statistics, CorrelatesALineFully) {
  EXPECT_DOUBLE_EQ(*pearson_correlation(Values{1, 2, 4}, Values{12, 14, 18}), 1);
  EXPECT_DOUBLE_EQ(*pearson_correlation(Values{1, 2, 4}, Values{-1, -2, -4}), -1);
}

TEST(Statistics, FollowsTheFormula) {
  // Means 2 and 3: sums of products (-1)(-2) + 0 x 1 + 1 x 1 = 3, of squares 2 and 6.
  EXPECT_DOUBLE_EQ(*pearson_correlation(Values{1, 2, 3}, Values{1, 4, 4}), 3 / std::sqrt(12.0));
}

TEST(Statistics, RanksDontSeeByHowMuch) {
  EXPECT_DOUBLE_EQ(*rank_correlation(Values{1, 10, 1000}, Values{2, 3, 4}), 1);
  // Without ties 1 - 6 sum d^2 / (n (n^2 - 1)): ranks 1 2 3 4 and 2 1 4 3, d^2 = 4.
  EXPECT_DOUBLE_EQ(*rank_correlation(Values{1, 2, 3, 4}, Values{5, 1, 9, 7}), 1 - 24.0 / 60);
}

TEST(Statistics, EqualValuesShareTheMeanOfTheirRanks) {
  // Ranks 1.5 1.5 3 against 1 2 3: sums 1.5, 1.5 and 2.
  EXPECT_DOUBLE_EQ(*rank_correlation(Values{5, 5, 7}, Values{1, 2, 3}), 1.5 / std::sqrt(1.5 * 2));
}

TEST(Statistics, IsNothingSaidOfTooLittle) {
  EXPECT_FALSE(pearson_correlation(Values{1}, Values{2}));
  EXPECT_FALSE(pearson_correlation(Values{1, 1, 1}, Values{1, 2, 3}));
  EXPECT_FALSE(rank_correlation(Values{1, 2}, Values{3, 3}));
}

}  // namespace
}  // namespace accsim::sim
