#include "hw/dram/controller.h"

#include <gtest/gtest.h>

#include "dram_fixture.h"

namespace accsim {
namespace {

using enum DramCommand;

DramPlace at(int bank, int64_t row) { return {0, bank / 2, bank, 0, row}; }

/// Runs it dry; what was issued, in order.
std::vector<DramEvent> run(DramController& controller) {
  std::vector<DramEvent> out;
  controller.finish();
  while (controller.next()) controller.step([&](const DramEvent& e) { out.push_back(e); });
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
  DramController controller(slow_device(), 0);
  for (const int64_t row : {1, 2, 1, 1}) controller.add(at(0, row), false, 0);
  // The first opens row 1 and goes; then row 2 is the oldest and closes it, though hits wait.
  EXPECT_EQ(rows_of(run(controller), read), (std::vector<int64_t>{1, 2, 1, 1}));
  DramController other(slow_device(), 0);
  other.add(at(0, 1), false, 0);
  while (other.next()) other.step({});
  other.add(at(2, 7), false, 20);
  for (const int64_t row : {2, 1, 1}) other.add(at(0, row), false, 20);
  // Bank 2's request is the oldest while its row opens: meanwhile hits of bank 0 pass row 2.
  EXPECT_EQ(rows_of(run(other), read), (std::vector<int64_t>{1, 1, 7, 2}));
}

TEST(DramController, IsTheOlderRequestFirstWhenBothAreReady) {
  DramController controller(slow_device(), 0);
  for (const int bank : {3, 1, 2}) controller.add(at(bank, bank), false, 0);
  EXPECT_EQ(rows_of(run(controller), activate), (std::vector<int64_t>{3, 1, 2}));
}

TEST(DramController, DoWritesWaitUntilTheirQueueIsFull) {
  DramController controller(test::free_device(), 0);
  controller.add(at(0, 1), true, 0);
  EXPECT_EQ(controller.next(), 0);  // its row is opened ahead
  controller.step({});
  EXPECT_EQ(controller.next(), std::nullopt);  // but one write isn't worth turning the bus round
  for (size_t i = 1; i < kDramDrain; ++i) controller.add(at(0, 1), true, 1);
  EXPECT_NE(controller.next(), std::nullopt);
}

TEST(DramController, AreWritesServedInABatchWhenFull) {
  DramController controller(test::free_device(), 0);
  for (size_t i = 0; i < kDramWriteQueue; ++i) controller.add(at(0, 1), true, 0);
  EXPECT_FALSE(controller.accepts(true));
  EXPECT_TRUE(controller.accepts(false));
  for (int i = 0; i < 10; ++i) controller.add(at(0, 1), false, 0);
  const auto events = run(controller);
  size_t writes_first = 0;
  for (const DramEvent& e : events) {
    if (e.command == read) break;
    writes_first += e.command == write;
  }
  EXPECT_EQ(writes_first, kDramBatch);
}

TEST(DramController, AreRowsOpenedForTheOtherDirectionBeforeTheBusTurns) {
  // Reads of row 1 are open in bank 0; more wait in bank 2, which the writes want as well.
  for (const size_t missing : {kDramAhead + 1, kDramAhead}) {
    DramController controller(slow_device(), 0);
    controller.add(at(0, 1), false, 0);
    controller.step({});  // opens it
    for (int i = 0; i < 4; ++i) controller.add(at(0, 1), false, 0);
    controller.add(at(2, 5), false, 0);
    for (size_t i = 0; i + missing < kDramWriteQueue; ++i) controller.add(at(2, 9), true, 0);
    std::vector<DramEvent> events;
    controller.step([&](const DramEvent& e) { events.push_back(e); });
    EXPECT_EQ(events.at(0).command, activate);
    EXPECT_EQ(events.at(0).row, missing == kDramAhead ? 9 : 5);
  }
}

/// Writes that all wait for their rows don't hold up the reads that nothing else can serve.
TEST(DramController, IsEveryRequestServedHoweverTheQueuesAreFilled) {
  for (size_t writes = 0; writes <= kDramWriteQueue; ++writes) {
    DramController controller(slow_device(), 0);
    for (size_t i = 0; i < writes; ++i)
      controller.add(at(static_cast<int>(i % 4), static_cast<int64_t>(i % 3)), true, 0);
    for (int i = 0; i < 20; ++i) controller.add(at(i % 4, i % 5), false, 0);
    const auto events = run(controller);
    EXPECT_EQ(rows_of(events, read).size(), 20u);
    EXPECT_EQ(rows_of(events, write).size(), writes);
  }
}

TEST(DramController, IsNoCommandIssuedBeforeItsRequestArrived) {
  DramController controller(test::free_device(), 0);
  controller.add(at(0, 1), false, 500);
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
  DramController controller(d, 0);
  controller.add(at(0, 1), false, 0);
  std::vector<DramEvent> events;
  const auto see = [&](const DramEvent& e) { events.push_back(e); };
  while (controller.next()) controller.step(see);
  controller.add(at(0, 1), false, 99);   // in time
  controller.step(see);
  controller.add(at(0, 1), false, 100);  // too late: the refresh is due
  while (controller.next()) controller.step(see);
  std::vector<std::pair<DramCommand, int64_t>> found;
  for (const DramEvent& e : events) found.emplace_back(e.command, e.clock);
  const std::vector<std::pair<DramCommand, int64_t>> wanted = {
      {activate, 0},  {read, 1},       {read, 99},       {precharge_all, 100},
      {refresh, 105}, {activate, 135}, {read, 136}};
  EXPECT_EQ(found, wanted);
}

}  // namespace
}  // namespace accsim
