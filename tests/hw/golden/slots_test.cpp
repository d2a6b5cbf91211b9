#include "hw/golden/slots.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace accsim::hw {
namespace {

constexpr int64_t kBytes = 64, kWritten = 24;

/// Fills the slot of a ring of one with `value`, hands it over and gets it back.
void go_round(SlotRing& ring, Poison& poison, uint8_t value) {
  ASSERT_TRUE(ring.apply_sync(SyncKind::wait_free, poison));
  std::ranges::fill(ring.slot_to_fill(poison, kWritten).first(kWritten), value);
  ASSERT_TRUE(ring.apply_sync(SyncKind::signal_full, poison));
  ASSERT_TRUE(ring.apply_sync(SyncKind::wait_full, poison));
  EXPECT_EQ(ring.slot_to_read(poison)[kWritten - 1], value);
  ASSERT_TRUE(ring.apply_sync(SyncKind::signal_free, poison));
}

TEST(Slots, HaveNoWordOfWhatWasWrittenToThemBefore) {
  SlotRing ring(1, kBytes);
  Poison poison;
  for (const uint8_t value : {uint8_t{7}, uint8_t{9}}) go_round(ring, poison, value);
  ASSERT_TRUE(ring.apply_sync(SyncKind::wait_free, poison));
  const auto slot = ring.slot_to_fill(poison, 0);
  // A byte of random ones has a given value once in 256: of 24, ten are not to be expected.
  EXPECT_LT(std::ranges::count(slot.first(kWritten), 9), 10);
  EXPECT_LT(std::ranges::count(slot, 0), 10);
}

/// Large slots of small tiles would take most of golden's time.
TEST(Slots, StayWhatTheyWereWhereNothingWasWritten) {
  SlotRing ring(1, kBytes);
  Poison poison;
  go_round(ring, poison, 1);
  ASSERT_TRUE(ring.apply_sync(SyncKind::wait_free, poison));
  const auto slot = ring.slot_to_fill(poison, 1);
  const std::vector<uint8_t> was(slot.begin() + kWritten, slot.end());
  ASSERT_TRUE(ring.apply_sync(SyncKind::signal_full, poison));
  ASSERT_TRUE(ring.apply_sync(SyncKind::wait_full, poison));
  ASSERT_TRUE(ring.apply_sync(SyncKind::signal_free, poison));
  ASSERT_TRUE(ring.apply_sync(SyncKind::wait_free, poison));
  EXPECT_TRUE(std::ranges::equal(ring.slot_to_fill(poison, 0).subspan(kWritten), was));
}

}  // namespace
}  // namespace accsim::hw
