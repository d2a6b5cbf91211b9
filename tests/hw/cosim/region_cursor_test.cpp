#include "hw/cosim/region_cursor.h"

#include <gtest/gtest.h>

#include "hw/cosim/rtl_layout.h"
#include "tests/support/machines.h"
#include "tests/support/regions.h"

namespace accsim::hw {
namespace {

using test::RegionProgram;

StoreCommand store_to(int tensor) { return {tensor, 0, 0, {{}, 4}}; }
LoadCommand load_from(int tensor) { return {Buffer::activation, tensor, 0, 0, {{}, 4}, {}}; }

/// Turns of a queue's commands on a channel: w waits, g gives.
std::string turns(const ChannelOrder& order, Queue q, bool writes, int64_t n) {
  std::string out;
  for (int64_t i = 0; i < n; ++i) {
    const ChannelOrder::Turn t = order.turn_of_command(q, writes, i);
    out += std::string(t.waits ? "w" : "-") + (t.gives ? "g " : "- ");
  }
  return out;
}

TEST(ChannelOrder, AreTurnsWhereQueuesFollowEachOther) {
  const StageCommand in{0, 2, 0, 0, {{}, 4}}, out{2, 1, 0, 0, {{}, 4}};
  // Reads: load, load, stage, load (thrice: load, load, stage, load ...); writes: stage, store.
  const std::vector<Item> body = {{Command{load_from(0)}}, {Command{load_from(2)}},
                                  {Command{load_from(0)}}, {Command{in}},
                                  {Command{out}},          {Command{store_to(1)}},
                                  {Command{store_to(2)}},  {Command{load_from(0)}}};
  const Program p = test::program({{Loop{0, "i", 2, body}}}, 1);
  const ChannelOrder order(p);
  EXPECT_EQ(turns(order, Queue::load, false, 6), "-- -g w- -- -g w- ");
  EXPECT_EQ(turns(order, Queue::stage, false, 2), "wg wg ");
  EXPECT_EQ(turns(order, Queue::stage, true, 2), "-g wg ");
  EXPECT_EQ(turns(order, Queue::store, true, 2), "wg w- ");
}

TEST(ChannelOrder, IsNothingWrittenOutWithoutStages) {
  const Program p = test::program({{Command{load_from(0)}}, {Command{store_to(1)}}});
  EXPECT_EQ(turns(ChannelOrder(p), Queue::load, false, 2), "-- -- ");
}

uint64_t address(const Descriptor& d, size_t low, size_t high) {
  return (uint64_t{d.words[high]} << 32 | d.words[low]) & 0xffff;
}

/// A ring of two: the third slot is the first one again, and the first that somebody gave back.
TEST(RegionCursor, DoAddressesAndTokensGoRound) {
  namespace at = rtl::dma_cmd;
  namespace flags = rtl::region_flags;
  const RegionProgram r(10);
  const Program p = r.program();
  const HwConfig hw = test::small_machine();
  const ChannelOrder order(p);
  RegionCursor stage(p, order, Queue::stage), load(p, order, Queue::load);
  const auto sync = [](SyncKind kind, Queue q) { return Sync{kind, q, Buffer::activation, 3}; };
  for (uint32_t i = 0; i < 4; ++i) {
    stage.note_wait(sync(SyncKind::wait_free, Queue::stage));
    Result<Descriptor> d = describe_command(p, hw, r.in, {});
    ASSERT_TRUE(d.ok());
    stage.complete_descriptor(r.in, *d);
    EXPECT_EQ(address(*d, rtl::stage_cmd::kFarLo, rtl::stage_cmd::kFarHi), i % 2 * 30);
    EXPECT_EQ(d->words[rtl::stage_cmd::kTarget], flags::kWaits | (i < 2 ? flags::kInitialSlot : 0));
    stage.put_signal(sync(SyncKind::signal_full, Queue::stage), *d);
    EXPECT_TRUE(d->words[rtl::stage_cmd::kTarget] & flags::kSignal);
    load.note_wait(sync(SyncKind::wait_full, Queue::load));
    d = describe_command(p, hw, r.load, {});
    ASSERT_TRUE(d.ok());
    load.complete_descriptor(r.load, *d);
    EXPECT_EQ(address(*d, at::kAddrLo, at::kAddrHi), i % 2 * 30);
    EXPECT_EQ(d->words[at::kRegion], flags::kWaits);
    load.put_signal(sync(SyncKind::signal_free, Queue::load), *d);
    EXPECT_EQ(d->words[at::kRegion], flags::kWaits | flags::kSignal);
  }
}

}  // namespace
}  // namespace accsim::hw
