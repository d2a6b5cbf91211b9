#include "hw/timing/bus.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace accsim::hw {
namespace {

constexpr int64_t kToRead = 15, kToWrite = 6;

Bus::Use read(int64_t time) { return {time, kToRead, kToWrite, false}; }
Bus::Use write(int64_t time) { return {time, kToWrite, kToRead, true}; }

TEST(Bus, TransfersOfOneDirectionFollowOneAnother) {
  Bus bus;
  EXPECT_EQ(bus.take(read(100), 0).end, 100);
  EXPECT_EQ(bus.take(read(50), 20).begin, 100);
  EXPECT_EQ(bus.take(read(50), 200).begin, 200);
}

TEST(Bus, IsAWriteBetweenReadsBehindATurnAndBeforeOne) {
  Bus bus;
  bus.take(read(100), 0);
  EXPECT_EQ(bus.take(write(30), 0).begin, 100 + kToWrite);
  EXPECT_EQ(bus.take(read(10), 0).begin, 100 + kToWrite + 30 + kToRead);
}

TEST(Bus, IsAWriteBehindATurnThoughALaterOneComesAnyhow) {
  Bus bus;
  bus.take(read(100), 0);
  bus.take(write(50), 500);
  const Bus::Slot slot = bus.take(write(30), 0);
  EXPECT_EQ(slot.begin, 100 + kToWrite);
  EXPECT_EQ(slot.end, 100 + kToWrite + 30);
}

TEST(Bus, DoesNobodyWaitForATransferThatIsNotThereYet) {
  Bus bus;
  bus.take(read(100), 0);
  bus.take(write(50), 1000);
  EXPECT_EQ(bus.take(read(100), 0).end, 200) << "which comes later in the text";
  EXPECT_EQ(bus.take(read(100), 300).end, 400);
}

TEST(Bus, DoesATransferGoOnBehindAnEarlierOneInTheText) {
  Bus bus;
  bus.take(read(100), 0);
  bus.take(write(50), 500);
  const Bus::Slot slot = bus.take(read(600), 0);
  EXPECT_EQ(slot.begin, 100);
  // 400 ticks until the write, less the turn, and the rest behind it.
  EXPECT_EQ(slot.end, 550 + kToRead + 600 - (400 - kToWrite));
}

/// Reads that go on where the one before ended, and idle times that nobody fills.
TEST(Bus, HasGrownThoughOldIdleTimesAreForgotten) {
  Bus bus, before;
  bus.take(read(10), 0);
  int64_t now = 100, periods = 0;
  do {
    before = bus;
    EXPECT_FALSE(bus.has_grown(before, 100, now));
    bus.take(read(10), now);
    now += 100;
    ASSERT_LE(++periods, 10);
  } while (!bus.has_grown(before, 100, now - 100));
  EXPECT_FALSE(bus.has_grown(before, 99, now - 100));
  Bus ahead = bus;
  ahead.move_later(before, 700);
  for (int i = 0; i < 7; ++i, now += 100) bus.take(read(10), now);
  EXPECT_TRUE(bus.has_grown(ahead, 0, 0));
}

TEST(Bus, MayHaveGrownWhereWhatIsTooEarlyToBeOfUseStays) {
  Bus bus;
  bus.take(read(10), 1000);
  Bus before = bus;
  bus.take(read(10), 1010);
  EXPECT_TRUE(bus.has_grown(before, 10, 1010));
  EXPECT_FALSE(bus.has_grown(before, 10, 900)) << "a transfer may still ask for it";
  Bus ahead = bus;
  ahead.move_later(before, 20);
  bus.take(read(20), 1020);
  EXPECT_TRUE(bus.has_grown(ahead, 0, 0));
}

TEST(Bus, AreTimesAlikeFromAnyBeginning) {
  std::mt19937 random(5);
  for (int i = 0; i < 50; ++i) {
    Bus one, other;
    for (int k = 0; k < 60; ++k) {
      const auto ready = static_cast<int64_t>(random() % 3000);
      const auto time = static_cast<int64_t>(1 + random() % 90);
      const Bus::Use use = random() % 2 ? read(time) : write(time);
      const Bus::Slot a = one.take(use, ready), b = other.take(use, ready + 777);
      EXPECT_EQ(a.begin + 777, b.begin);
      EXPECT_EQ(a.end + 777, b.end);
    }
    EXPECT_TRUE(other.has_grown(one, 777, 0));
    EXPECT_FALSE(other.has_grown(one, 776, 0));
    other.rebase(777);
    EXPECT_TRUE(other.has_grown(one, 0, 0));
  }
}

}  // namespace
}  // namespace accsim::hw
