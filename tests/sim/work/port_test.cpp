#include "sim/work/port.h"

#include <gtest/gtest.h>

#include <set>

namespace accsim::sim {
namespace {

TEST(ValuePort, IsOfTheNodeInternalOrNone) {
  EXPECT_TRUE(ValuePort(3).is_of_node());
  EXPECT_EQ(ValuePort(3).index(), 3u);
  EXPECT_TRUE(ValuePort(3).is_within(4));
  EXPECT_FALSE(ValuePort(3).is_within(3));
  EXPECT_TRUE(kInternalPort.is_internal());
  EXPECT_FALSE(kInternalPort.is_within(3));
  EXPECT_TRUE(ValuePort::none().is_none());
  EXPECT_FALSE(ValuePort::none().is_internal());
}

/// A node of so many inputs numbers its internal values from 0 on, each once.
TEST(ValuePort, NumbersInternalValuesWithoutGaps) {
  constexpr int kInputs = 3;
  std::set<int> seen = {kInternalPort.internal_index(), kSecondInternalPort.internal_index()};
  for (int input = 0; input < kInputs; ++input)
    for (int which = 0; which < ValuePort::kPortsAnInput; ++which)
      seen.insert(ValuePort::made(input, which).internal_index());
  EXPECT_EQ(static_cast<int>(seen.size()), ValuePort::count_internal(kInputs));
  EXPECT_EQ(*seen.begin(), 0);
  EXPECT_EQ(*seen.rbegin(), ValuePort::count_internal(kInputs) - 1);
}

TEST(ValuePortDeathTest, HasNoIndexBelow0) {
  EXPECT_DEATH(static_cast<void>(ValuePort(-1)), "index below 0");
  EXPECT_DEATH(static_cast<void>(kInternalPort.index()), "isn't the node's");
}

}  // namespace
}  // namespace accsim::sim
