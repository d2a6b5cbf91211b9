#include "hw/timing/timing.h"

#include <gtest/gtest.h>

#include "hw/program/contract.h"
#include "tests/support/machines.h"
#include "tests/support/programs.h"
#include "tests/support/timings.h"

namespace accsim::hw {
namespace {

using contract::kArrayLatency;
using contract::kPostLatency;
using contract::kTokenLatency;

int64_t cycles(const Program& p, const HwConfig& hw) {
  EXPECT_TRUE(verify(p, hw).ok()) << verify(p, hw).errors().front().text();
  const Timing step = simulate(p, hw, TimingMode::step);
  EXPECT_EQ(step.total, simulate(p, hw, TimingMode::periodic).total);
  return step.total.count();
}

TEST(Timing, OneTileTakesItsPartsOneAfterTheOther) {
  const HwConfig hw = test::small_machine(8, 8);
  const int64_t m = 20, k = 8, n = 8;
  const int64_t weights = hw.dram.read.cycles(k * n), activations = hw.dram.read.cycles(m * k);
  const int64_t loaded = weights + activations + hw.dram.latency + kTokenLatency;
  const int64_t weights_in = weights + hw.dram.latency + kTokenLatency + hw.array.rows;
  const int64_t streamed = std::max(loaded, weights_in) + m;
  const int64_t summed =
      streamed + hw.array.rows + hw.array.cols - 1 + kArrayLatency + kTokenLatency;
  const int64_t posted = summed + m + kPostLatency + kTokenLatency;
  const int64_t stored = posted + hw.dram.write.cycles(m * n) + hw.dram.latency;
  EXPECT_EQ(cycles(test::program(test::tile(m, k, n)), hw), stored);
}

/// The first load takes longer to arrive than the second, which comes from the nearer memory.
TEST(Timing, ASlotIsFullWhenAllOfItsLoadsHaveArrived) {
  HwConfig hw = test::small_machine(8, 8);
  hw.dram = {{4000}, {4000}, 100};
  hw.shared = {64, {{8000}, {8000}, 20}};
  const int64_t bytes = 64, out = 32;
  VectorCommand add;
  add.in_bytes = 2 * bytes;
  add.out_bytes = out;
  for (const bool far_first : {true, false}) {
    std::vector<Item> body = {test::sync(SyncKind::wait_free, Queue::load, Buffer::activation),
                              test::load(Buffer::activation, bytes, far_first ? 0 : 2),
                              test::load(Buffer::activation, bytes, far_first ? 2 : 0),
                              test::sync(SyncKind::signal_full, Queue::load, Buffer::activation),
                              test::sync(SyncKind::wait_full, Queue::vector, Buffer::activation),
                              test::sync(SyncKind::wait_free, Queue::vector, Buffer::output),
                              Item{Command{add}},
                              test::sync(SyncKind::signal_free, Queue::vector, Buffer::activation),
                              test::sync(SyncKind::signal_full, Queue::vector, Buffer::output),
                              test::sync(SyncKind::wait_full, Queue::store, Buffer::output),
                              test::store(out),
                              test::sync(SyncKind::signal_free, Queue::store, Buffer::output)};
    const int64_t far = bytes / 4, near = bytes / 8;
    const int64_t arrived = far_first ? std::max(far + 100, far + near + 20) : near + far + 100;
    const int64_t done =
        arrived + kTokenLatency + 2 * bytes / 16 + contract::kVectorLatency + kTokenLatency;
    EXPECT_EQ(cycles(test::program(std::move(body)), hw), done + out / 4 + 100) << far_first;
  }
}

/// Slots become full in the order in which they are claimed: a later one isn't there first.
TEST(Timing, ASlotIsNotFullBeforeTheOneThatWasClaimedBefore) {
  HwConfig hw = test::small_machine(8, 8);
  hw.dram = {{4000}, {4000}, 100};
  hw.shared = {64, {{8000}, {8000}, 20}};
  const auto filled = [](int tensor) {
    return std::vector<Item>{test::sync(SyncKind::wait_free, Queue::load, Buffer::activation),
                             test::load(Buffer::activation, 64, tensor),
                             test::sync(SyncKind::signal_full, Queue::load, Buffer::activation)};
  };
  std::vector<Item> body = filled(0);
  test::append(body, filled(2));
  VectorCommand read;  // a cycle each, so that the second ends when its data has come
  read.in_bytes = 1;
  for (int i = 0; i < 2; ++i)
    test::append(body, {test::sync(SyncKind::wait_full, Queue::vector, Buffer::activation),
                        Item{Command{read}},
                        test::sync(SyncKind::signal_free, Queue::vector, Buffer::activation)});
  const int64_t far = 64 / 4 + 100;
  EXPECT_EQ(cycles(test::program(std::move(body)), hw),
            far + kTokenLatency + 2 + contract::kVectorLatency);
}

/// Two slots whose data are there at once become full one after the other. The first token is for
/// the execute queue, which does nothing with it.
TEST(Timing, OneSlotOfABufferBecomesFullACycle) {
  HwConfig hw = test::small_machine(8, 8);
  hw.dram = {{4000}, {4000}, 100};
  hw.shared = {64, {{8000}, {8000}, 20}};
  std::vector<Item> body;
  for (const int tensor : {0, 2})
    test::append(body, {test::sync(SyncKind::wait_free, Queue::load, Buffer::activation),
                        test::load(Buffer::activation, 64, tensor),
                        test::sync(SyncKind::signal_full, Queue::load, Buffer::activation)});
  VectorCommand read;
  read.in_bytes = 1;
  test::append(body, {test::sync(SyncKind::wait_full, Queue::execute, Buffer::activation),
                      test::sync(SyncKind::wait_full, Queue::vector, Buffer::activation),
                      Item{Command{read}}});
  const int64_t far = 64 / 4 + 100;
  EXPECT_EQ(simulate(test::program(std::move(body)), hw).total.count(),
            far + 1 + kTokenLatency + 1 + contract::kVectorLatency);
}

TEST(Timing, BackToBackGemmsLeaveNoBubble) {
  const HwConfig hw = test::small_machine(8, 8);
  for (const int64_t m : {8, 9, 33}) {
    const int64_t few = cycles(test::program(test::tile(m, 8, 8, 1)), hw);
    const int64_t many = cycles(test::program(test::tile(m, 8, 8, 101)), hw);
    EXPECT_EQ(many - few, 100 * m) << m;
  }
}

TEST(Timing, FewerRowsThanTheArrayWaitForTheNextWeights) {
  const HwConfig hw = test::small_machine(8, 8);
  for (const int64_t m : {1, 5, 7}) {
    const int64_t few = cycles(test::program(test::tile(m, 8, 8, 1)), hw);
    const int64_t many = cycles(test::program(test::tile(m, 8, 8, 101)), hw);
    EXPECT_EQ(many - few, 100 * hw.array.rows) << m;
    const Program p = test::program(test::tile(m, 8, 8, 101));
    const QueueTiming execute = simulate(p, hw).queue(Queue::execute);
    EXPECT_EQ(execute.waits[static_cast<size_t>(Wait::weight_load)],
              Cycles(100 * (hw.array.rows - m)));
  }
}

/// Tiles in a loop cost, in the long run, what the busiest queue needs for one; with a single slot,
/// load and compute take turns.
TEST(Timing, SlotsDecideWhetherLoadsOverlap) {
  HwConfig hw = test::small_machine(8, 8);
  hw.dram.latency = 0;
  const int64_t m = 64, k = 8, n = 8;
  const auto per_tile = [&](int64_t slots) {
    for (BufferConfig& b : hw.buffers) b.slots = slots;
    const auto run = [&](int64_t count) {
      return cycles(test::program({{Loop{0, "t", count, test::tile(m, k, n)}}}, 1), hw);
    };
    return (run(400) - run(200)) / 200;
  };
  const int64_t weights = hw.dram.read.cycles(k * n), activations = hw.dram.read.cycles(m * k);
  const int64_t store = hw.dram.write.cycles(m * n);
  EXPECT_EQ(per_tile(3), std::max({weights + activations, m, store}));
  EXPECT_GT(per_tile(1), per_tile(2));
}

TEST(Timing, PortsThatAreNarrowerThanARunTakeSeveralBeats) {
  HwConfig hw = test::small_machine(8, 8);
  hw.dram.read = {1'000'000};  // 1000 bytes a cycle: the port is what is left
  const auto with_width = [&](int64_t width) {
    for (const Buffer b : {Buffer::activation, Buffer::weight})
      hw.buffers[static_cast<size_t>(b)].width = width;
    return cycles(test::program(test::tile(32, 8, 8)), hw);
  };
  // Weights 64 bytes and activations 256 bytes, both before the first pass.
  EXPECT_EQ(with_width(4) - with_width(8), (64 + 256) / 4 - (64 + 256) / 8);
}

TEST(Timing, EveryQueuesTimeIsBusyOrWaiting) {
  std::mt19937 random(5);
  for (int i = 0; i < 50; ++i) {
    const HwConfig hw = test::random_machine(random);
    const Program p = test::random_program(random);
    if (!verify(p, hw).ok()) continue;
    const Timing t = simulate(p, hw);
    for (const QueueTiming& q : t.queues) {
      Cycles sum = q.busy;
      for (Cycles w : q.waits) sum += w;
      EXPECT_EQ(sum, q.free_at);
      EXPECT_LE(q.free_at, t.total);
    }
  }
}

TEST(Timing, SkippingPeriodsChangesNothingOnRandomPrograms) {
  const test::TimingComparison c = test::compare_timings(2000, 6);
  EXPECT_EQ(c.different, 0) << c.first_difference;
  EXPECT_EQ(c.compared, 2000);
  EXPECT_GT(c.skipped_commands, c.commands / 2) << "most of the work should have been skipped";
}

TEST(Timing, DoesNotDependOnTripCountsInCost) {
  const HwConfig hw = test::small_machine(8, 8);
  const auto run = [&](int64_t count) {
    return simulate(test::program({{Loop{0, "t", count, test::tile(64, 8, 8)}}}, 1), hw)
        .total.count();
  };
  // A trillion tiles, in no time, and exactly linear in the periodic regime.
  const int64_t trillion = 1'000'000'000'000;
  EXPECT_EQ(run(2 * trillion) - run(trillion), run(3 * trillion) - run(2 * trillion));
}

}  // namespace
}  // namespace accsim::hw
