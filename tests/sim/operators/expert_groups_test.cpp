#include "sim/operators/expert_groups.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace accsim::sim {
namespace {

/// Mean number of different experts over all equally likely choices of k of E experts by T tokens:
/// every choice is gone through.
double counted_experts(int experts, int chosen, int tokens) {
  std::vector<unsigned> choices;
  for (unsigned set = 0; set < 1U << experts; ++set)
    if (std::popcount(set) == chosen) choices.push_back(set);
  double sum = 0, ways = 1;
  std::vector<size_t> at(static_cast<size_t>(tokens), 0);
  for (int t = 0; t < tokens; ++t) ways *= static_cast<double>(choices.size());
  for (double way = 0; way < ways; ++way) {
    unsigned all = 0;
    for (const size_t a : at) all |= choices[a];
    sum += std::popcount(all);
    for (size_t t = 0; t < at.size() && ++at[t] == choices.size(); ++t) at[t] = 0;
  }
  return sum / ways;
}

TEST(ExpertGroups, AreAsManyExpertsExpectedAsTheMeanOverAllChoices) {
  for (const auto& [experts, chosen, tokens] :
       {std::tuple(4, 2, 3), {5, 1, 4}, {6, 3, 2}, {4, 4, 2}, {8, 2, 1}}) {
    EXPECT_NEAR(expected_experts(experts, {tokens, chosen}),
                counted_experts(experts, chosen, tokens), 1e-9)
        << experts << " " << chosen << " " << tokens;
    const double formula =
        experts * (1 - std::pow(1 - static_cast<double>(chosen) / experts, tokens));
    EXPECT_NEAR(expected_experts(experts, {tokens, chosen}), formula, 1e-12);
  }
}

TEST(ExpertGroups, AreWholeExpertsAtLeastThoseOfOneToken) {
  EXPECT_EQ(usual_experts(128, {1, 8}), 8);
  EXPECT_EQ(usual_experts(8, {16, 2}), 8) << "7.92";
  EXPECT_EQ(usual_experts(128, {16, 8}), 82) << "128 (1 - (15/16)^16) = 82.4";
  EXPECT_EQ(usual_experts(8, {0, 2}), 0);
  EXPECT_EQ(usual_experts(8, {1 << 20, 2}), 8);
}

TEST(ExpertGroups, AreRowsSpreadEvenly) {
  EXPECT_EQ(even_groups(10, 4), (std::vector<ExpertRows>{{2, 2}, {2, 3}}));
  EXPECT_EQ(even_groups(8, 4), (std::vector<ExpertRows>{{4, 2}}));
  EXPECT_EQ(even_groups(3, 8), (std::vector<ExpertRows>{{3, 1}}));
  EXPECT_TRUE(even_groups(0, 8).empty());
  EXPECT_EQ(groups_of_rows({3, 0, 1, 3, 1, 1}), (std::vector<ExpertRows>{{2, 3}, {3, 1}}));
}

}  // namespace
}  // namespace accsim::sim
