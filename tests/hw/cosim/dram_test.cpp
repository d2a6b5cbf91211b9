#include "hw/cosim/dram.h"

#include <gtest/gtest.h>

#include <random>

namespace accsim::hw {
namespace {

/// Cycles from the first beat shown to the last one taken.
int64_t occupancy(PacedChannel& channel, int64_t runs, int64_t run, int64_t width, int64_t& cycle) {
  const int64_t begin = cycle;
  for (int64_t r = 0; r < runs; ++r)
    for (int64_t left = run; left > 0; left -= width) {
      rtl::Request beat{.valid = true};
      beat.bytes = static_cast<uint32_t>(std::min(left, width));
      beat.last = r + 1 == runs && left <= width;
      while (!channel.try_take(beat, cycle)) ++cycle;
      ++cycle;
    }
  return cycle - begin;
}

TEST(PacedChannel, DoesATransferTakeTheTimeOfItsBytesOrItsBeats) {
  std::mt19937 random(1);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int round = 0; round < 200; ++round) {
    const ByteRate rate{pick(100, 50000)};
    PacedChannel channel(rate);
    int64_t cycle = pick(0, 5);
    for (int transfer = 0; transfer < 5; ++transfer) {
      const int64_t runs = pick(1, 9), run = pick(1, 40), width = pick(1, 20);
      int64_t want = 0;  // beats of the runs, and until the rate has let all bytes through
      for (int64_t r = 0; r < runs; ++r)
        for (int64_t left = run; left > 0; left -= width) ++want;
      while (want * rate.milli < runs * run * 1000) ++want;
      EXPECT_EQ(occupancy(channel, runs, run, width, cycle), want);
    }
  }
}

TEST(ReturnPath, DoesDataComeOneCycleAndTheLatencyAfterItsRequest) {
  ReturnPath path(7);
  std::vector<uint8_t> memory = {1, 2, 3, 4};
  path.push(memory, {1}, 10);
  memory = {5, 6, 7, 8};
  path.push(memory, {2}, 11);
  EXPECT_EQ(path.arrived_beat(17), nullptr);
  ASSERT_NE(path.arrived_beat(18), nullptr);
  EXPECT_EQ(path.arrived_beat(18)->tag, rtl::Tag{1});
  EXPECT_EQ(path.arrived_beat(18)->data, (std::vector<uint8_t>{1, 2, 3, 4}));
  path.pop();
  EXPECT_EQ(path.arrived_beat(18), nullptr);
  ASSERT_NE(path.arrived_beat(19), nullptr);
  EXPECT_EQ(path.arrived_beat(19)->data, (std::vector<uint8_t>{5, 6, 7, 8}));
}

TEST(WritePath, AreBytesInMemoryWhenTheyAreDue) {
  WritePath path;
  path.push({12, 100, {1}, false, 0});
  path.push({13, 101, {2}, true, 5});
  EXPECT_FALSE(path.take_arrived(11));
  const auto first = path.take_arrived(12);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->address, 100u);
  EXPECT_FALSE(first->last);
  EXPECT_FALSE(path.take_arrived(12));
  const auto second = path.take_arrived(INT64_MAX);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->tag, 5u);
  EXPECT_TRUE(second->last);
}

}  // namespace
}  // namespace accsim::hw
