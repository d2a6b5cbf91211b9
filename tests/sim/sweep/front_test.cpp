#include "sim/sweep/front.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace accsim::sim {
namespace {

bool beats(const std::vector<double>& a, const std::vector<double>& b) {
  bool less = false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    less |= a[i] < b[i];
  }
  return less;
}

/// Against the definition, tried on all pairs; equal points are there to tell ties.
TEST(Front, HoldsWhatNoOtherPointBeats) {
  std::mt19937 random(5);
  for (const size_t metrics : {1, 2, 3}) {
    std::vector<std::vector<double>> all;
    for (int i = 0; i < 300; ++i) {
      std::vector<double> v;
      for (size_t m = 0; m < metrics; ++m) v.push_back(static_cast<double>(random() % 12));
      all.push_back(v);
    }
    std::set<int64_t> expected;
    for (size_t i = 0; i < all.size(); ++i) {
      bool out = false;
      for (size_t j = 0; j < all.size(); ++j)
        out |= beats(all[j], all[i]) || (j < i && all[j] == all[i]);
      if (!out) expected.insert(static_cast<int64_t>(i));
    }
    std::vector<int64_t> order(all.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    std::shuffle(order.begin(), order.end(), random);
    Front front;
    for (const int64_t i : order) front.add(all[static_cast<size_t>(i)], i);
    std::set<int64_t> found;
    for (const Front::Entry& e : front.sorted_entries()) found.insert(e.point);
    EXPECT_EQ(found, expected);
  }
}

TEST(Front, ExcludesARegionOnlyWhenNothingInItCanCount) {
  Front front;
  front.add({10, 10}, 5);
  EXPECT_TRUE(front.excludes({10, 11}, 0));
  EXPECT_TRUE(front.excludes({10, 10}, 6)) << "equal, and the lower number stands for both";
  EXPECT_FALSE(front.excludes({10, 10}, 5)) << "a lower number might be equal";
  EXPECT_FALSE(front.excludes({9, 20}, 6));
}

}  // namespace
}  // namespace accsim::sim
