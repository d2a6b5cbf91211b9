#include "hw/dram/controller.h"

#include <gtest/gtest.h>

#include "dram_fixture.h"

namespace accsim::hw {
namespace {

using enum DramCommand;

DramPlace at(int bank, int64_t row) { return {0, bank / 2, bank, 0, row}; }

/// Runs it dry; what was issued, in order.
std::vector<DramEvent> run(DramController& controller) {
  std::vector<DramEvent> out;
  controller.end_requests();
  while (controller.next_clock())
    controller.issue_next([&](const DramEvent& e) { out.push_back(e); });
  return out;
}

std::vector<int64_t> rows_of(const std::vector<DramEvent>& events, DramCommand command) {
  std::vector<int64_t> rows;
  for (const DramEvent& e : events) {
    if (e.command == command) rows.push_back(e.row);
  }
  return rows;
}

DramDevice slow_device() {
  DramDevice d = test::free_device();
  d.t.rcd = d.t.rp = 10;
  return d;
}

TEST(DramController, DoHitsPassAConflictUntilItIsTheOldest) {
  DramController controller(slow_device(), 0, 0.5);
  for (const int64_t row : {1, 2, 1, 1}) controller.add_request(at(0, row), false, 0);
  // The first opens row 1 and goes; then row 2 is the oldest and closes it, though hits wait.
  EXPECT_EQ(rows_of(run(controller), read), (std::vector<int64_t>{1, 2, 1, 1}));
  DramController other(slow_device(), 0, 0.5);
  other.add_request(at(0, 1), false, 0);
  while (other.next_clock()) other.issue_next({});
  other.add_request(at(2, 7), false, 20);
  for (const int64_t row : {2, 1, 1}) other.add_request(at(0, row), false, 20);
  // Bank 2's request is the oldest while its row opens: meanwhile hits of bank 0 pass row 2.
  EXPECT_EQ(rows_of(run(other), read), (std::vector<int64_t>{1, 1, 7, 2}));
}

TEST(DramController, IsTheOlderRequestFirstWhenBothAreReady) {
  DramController controller(slow_device(), 0, 0.5);
  for (const int bank : {3, 1, 2}) controller.add_request(at(bank, bank), false, 0);
  EXPECT_EQ(rows_of(run(controller), activate), (std::vector<int64_t>{3, 1, 2}));
}

TEST(DramController, DoFewWritesAloneWaitForMore) {
  DramController controller(test::free_device(), 0, 0.5);
  controller.add_request(at(0, 1), true, 0);
  EXPECT_EQ(controller.next_clock(), 0);  // its row is opened ahead
  controller.issue_next({});
  EXPECT_EQ(controller.next_clock(),
            std::nullopt);  // but one write isn't worth turning the bus round
  for (size_t i = 1; i < kDramDrain; ++i) controller.add_request(at(0, 1), true, 1);
  EXPECT_NE(controller.next_clock(), std::nullopt);
}

TEST(DramController, AreBatchesInTheRatioOfTheTraffic) {
  for (const double share : {0.0, 0.25, 0.5, 0.8, 1.0}) {
    const DramBatch batch = dram_batch(share);
    EXPECT_NEAR(std::min(batch.reads, batch.writes), kDramLeastBatch, 1e-9);
    if (share == 0 || share == 1) continue;
    EXPECT_NEAR(batch.writes / (batch.reads + batch.writes), share, 1e-12);
  }
}

/// Lengths of the stretches of one direction that a controller serves whose queues are kept full of
/// hits.
std::vector<size_t> stretches(double write_share, int64_t requests) {
  DramController controller(test::free_device(), 0, write_share);
  std::vector<size_t> out;
  std::optional<DramCommand> last;
  for (int64_t served = 0; served < requests;) {
    for (const bool write : {false, true}) {
      // Each direction has a row of its own.
      while (controller.accepts(write)) controller.add_request(at(write ? 2 : 0, 1), write, served);
    }
    controller.issue_next([&](const DramEvent& e) {
      if (e.command != read && e.command != write) return;
      ++served;
      if (last != e.command) out.push_back(0);
      ++out.back();
      last = e.command;
    });
  }
  return out;
}

TEST(DramController, IsEveryBatchAsLongAsItsShare) {
  for (const double share : {0.25, 0.5, 0.75}) {
    const DramBatch batch = dram_batch(share);
    const std::vector<size_t> found = stretches(share, 2000);
    ASSERT_GE(found.size(), 10u);
    // Open rows are used up: the first one goes on for kDramAhead more, and so ends do all others.
    EXPECT_EQ(static_cast<double>(found[0]), batch.reads + kDramAhead);
    EXPECT_EQ(static_cast<double>(found[1]), batch.writes + kDramAhead);
    for (size_t i = 2; i + 1 < found.size(); ++i)
      EXPECT_EQ(static_cast<double>(found[i]), i % 2 == 0 ? batch.reads : batch.writes);
  }
}

TEST(DramController, IsABatchOverWhenItsOpenRowsAre) {
  // As many reads of row 1 as end within kDramAhead of the batch's end; then another row.
  const auto ahead = static_cast<int64_t>(kDramAhead),
             batch = static_cast<int64_t>(kDramLeastBatch);
  DramController controller(slow_device(), 0, 0.5);
  for (int64_t i = 0; i < batch - ahead; ++i) controller.add_request(at(0, 1), false, 0);
  controller.add_request(at(0, 7), false, 0);
  controller.add_request(at(2, 9), true, 0);
  const auto events = run(controller);
  std::vector<int64_t> rows;
  for (const DramEvent& e : events) {
    if (e.command == read || e.command == write) rows.push_back(e.row);
  }
  ASSERT_EQ(static_cast<int64_t>(rows.size()), batch - ahead + 2);
  EXPECT_EQ(rows[rows.size() - 2], 9);  // the write goes before the other row's read
  EXPECT_EQ(rows.back(), 7);
}

TEST(DramController, AreRowsOpenedForTheOtherDirectionBeforeTheBusTurns) {
  // Bank 2 is wanted by a read of row 5 and by a write of row 9.
  const auto batch = static_cast<int64_t>(kDramLeastBatch);
  for (const int64_t left :
       {static_cast<int64_t>(kDramAhead) + 1, static_cast<int64_t>(kDramAhead)}) {
    DramController controller(slow_device(), 0, 0.5);
    controller.add_request(at(0, 1), false, 0);
    for (int64_t i = 0; i < batch - left; ++i) {
      while (controller.accepts(false)) controller.add_request(at(0, 1), false, 0);
      bool served = false;
      while (!served)
        controller.issue_next([&](const DramEvent& e) { served = e.command == read; });
    }
    DramController copy = controller;
    while (copy.accepts(false)) copy.add_request(at(2, 5), false, 0);
    copy.add_request(at(2, 9), true, 0);
    std::optional<int64_t> opened;
    while (!opened) {
      copy.issue_next([&](const DramEvent& e) {
        if (e.command == activate) opened = e.row;
      });
    }
    EXPECT_EQ(*opened, left > static_cast<int64_t>(kDramAhead) ? 5 : 9) << left;
  }
}

/// LPDDR4's commands take several clocks of its one bus.
TEST(DramController, IsNoCommandBegunThatDelaysAColumnCommand) {
  DramDevice d = test::free_device();
  d.two_command_buses = false;
  d.t.cas_slots = 4;
  d.t.act_slots = 4;
  d.t.ccd_s = d.t.ccd_l = d.burst_clocks = 6;  // two clocks of bus are left between reads
  DramController controller(d, 0, 0);
  for (int i = 0; i < 6; ++i) controller.add_request(at(0, 1), false, 0);
  controller.add_request(at(2, 5), false, 0);
  const auto events = run(controller);
  std::vector<int64_t> reads;
  for (const DramEvent& e : events) {
    if (e.command == read) reads.push_back(e.clock);
  }
  ASSERT_EQ(reads.size(), 7u);
  for (size_t i = 1; i < 6; ++i) EXPECT_EQ(reads[i] - reads[i - 1], 6);
}

/// Writes that all wait for their rows don't hold up the reads that nothing else can serve.
TEST(DramController, IsEveryRequestServedHoweverTheQueuesAreFilled) {
  for (size_t writes = 0; writes <= kDramWriteQueue; ++writes) {
    DramController controller(slow_device(), 0, 0.5);
    for (size_t i = 0; i < writes; ++i)
      controller.add_request(at(static_cast<int>(i % 4), static_cast<int64_t>(i % 3)), true, 0);
    for (int i = 0; i < 20; ++i) controller.add_request(at(i % 4, i % 5), false, 0);
    const auto events = run(controller);
    EXPECT_EQ(rows_of(events, read).size(), 20u);
    EXPECT_EQ(rows_of(events, write).size(), writes);
  }
}

TEST(DramController, IsNoCommandIssuedBeforeItsRequestArrived) {
  DramController controller(test::free_device(), 0, 0.5);
  controller.add_request(at(0, 1), false, 500);
  const auto events = run(controller);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].clock, 500);
  EXPECT_EQ(events[1].clock, 501);
}

TEST(DramController, IsARefreshInTimeWithOpenRowsClosedFirst) {
  DramDevice d = test::free_device();
  d.t.refi = 100;
  d.t.rfc = 30;
  d.t.rp_all = 5;
  DramController controller(d, 0, 0.5);
  controller.add_request(at(0, 1), false, 0);
  std::vector<DramEvent> events;
  const auto see = [&](const DramEvent& e) { events.push_back(e); };
  while (controller.next_clock()) controller.issue_next(see);
  controller.add_request(at(0, 1), false, 99);  // in time
  controller.issue_next(see);
  controller.add_request(at(0, 1), false, 100);  // too late: the refresh is due
  while (controller.next_clock()) controller.issue_next(see);
  std::vector<std::pair<DramCommand, int64_t>> found;
  for (const DramEvent& e : events) found.emplace_back(e.command, e.clock);
  const std::vector<std::pair<DramCommand, int64_t>> wanted = {
      {activate, 0},  {read, 1},       {read, 99}, {precharge_all, 100},
      {refresh, 105}, {activate, 135}, {read, 136}};
  EXPECT_EQ(found, wanted);
}

}  // namespace
}  // namespace accsim::hw
