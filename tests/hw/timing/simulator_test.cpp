#include "hw/timing/simulator.h"

#include <gtest/gtest.h>

#include "tests/support/machines.h"
#include "tests/support/programs.h"
#include "tests/support/timings.h"

namespace accsim::hw {
namespace {

using test::append;
using test::sync;

/// Commands that were executed, not skipped ahead.
int64_t executed(const Program& p, const HwConfig& hw, TimingMode mode) {
  int64_t seen = 0;
  simulate(p, hw, mode, [&](const CommandTime&) { ++seen; });
  return seen;
}

Program looped(int64_t count, std::vector<Item> body) {
  return test::program({{Loop{0, "t", count, std::move(body)}}}, 1);
}

TEST(Simulator, SkipsATileLoopSoonAfterEverySlotHasBeenUsed) {
  HwConfig hw = test::small_machine();
  const auto tile = test::tile(64, 8, 8);
  const int64_t commands = 5;  // two loads, gemm, post, store
  for (const int64_t slots : {1, 2, 3, 5}) {
    for (BufferConfig& b : hw.buffers) b.slots = slots;
    const Program p = looped(1'000'000, tile);
    // The store is the slowest, so the other queues run ahead until every slot before it is taken.
    const int64_t in_the_way = 3 * slots;  // weights or activations, accumulator, output
    EXPECT_LE(executed(p, hw, TimingMode::periodic), commands * 3 * (in_the_way + 2)) << slots;
  }
}

TEST(Simulator, StepsEveryIterationWhenAsked) {
  const HwConfig hw = test::small_machine();
  EXPECT_EQ(executed(looped(1000, test::tile(64, 8, 8)), hw, TimingMode::step), 5000);
}

/// Passes without tokens between them depend on the first one only.
TEST(Simulator, SkipsPassesWithoutTokens) {
  const HwConfig hw = test::small_machine();
  std::vector<Item> tile = test::tile(64, 8, 8, 1);
  for (Item& item : tile)
    if (const auto* c = std::get_if<Command>(&item.node); c && std::get_if<GemmCommand>(c))
      item = {Loop{0, "k", 1'000'000, {test::gemm(64, 8, 8)}}};
  EXPECT_LE(executed(test::program(tile, 1), hw, TimingMode::periodic), 4 + 4);
}

/// The passes of a tile end long before the stores of the tiles before it do.
TEST(Simulator, SkipsPassesThatEndWhileStoresAreBehind) {
  HwConfig hw = test::small_machine();
  hw.dram.write = {10};  // 64 x 8 bytes take 51,200 cycles
  const int64_t passes = 200, tiles = 50;
  std::vector<Item> pass = test::fill(Buffer::weight, 64);
  append(pass, test::fill(Buffer::activation, 512));
  append(pass, {sync(SyncKind::wait_full, Queue::execute, Buffer::weight),
                sync(SyncKind::wait_full, Queue::execute, Buffer::activation), test::gemm(64, 8, 8),
                sync(SyncKind::signal_free, Queue::execute, Buffer::weight),
                sync(SyncKind::signal_free, Queue::execute, Buffer::activation)});
  std::vector<Item> tile = {sync(SyncKind::wait_free, Queue::execute, Buffer::accumulator),
                            Item{Loop{1, "k", passes, pass}},
                            sync(SyncKind::signal_full, Queue::execute, Buffer::accumulator),
                            sync(SyncKind::wait_full, Queue::post, Buffer::accumulator),
                            sync(SyncKind::wait_free, Queue::post, Buffer::output),
                            test::post(64, 8),
                            sync(SyncKind::signal_free, Queue::post, Buffer::accumulator),
                            sync(SyncKind::signal_full, Queue::post, Buffer::output),
                            sync(SyncKind::wait_full, Queue::store, Buffer::output),
                            test::store(512),
                            sync(SyncKind::signal_free, Queue::store, Buffer::output)};
  const Program p = test::program({{Loop{0, "t", tiles, tile}}}, 2);
  ASSERT_TRUE(verify(p, hw).ok()) << verify(p, hw).errors().front().text();
  const Timing step = simulate(p, hw, TimingMode::step);
  ASSERT_GT(step.total.count(), tiles * hw.dram.write.cycles(512));  // the stores decide
  EXPECT_TRUE(test::equal(simulate(p, hw, TimingMode::periodic), step));
  EXPECT_LT(executed(p, hw, TimingMode::periodic), 20 * tiles);
}

/// Iterations end alike from the second on, but the loop hands on a slot that is only loaded before
/// it: what is read and never written must not be taken for a part of the period.
TEST(Simulator, WatchesAMomentThatTheLoopDoesNotWrite) {
  HwConfig hw = test::small_machine();
  hw.dram.latency = 5000;  // the load before the loop is what everything waits for at first
  std::vector<Item> body = {sync(SyncKind::wait_free, Queue::load, Buffer::activation),
                            sync(SyncKind::signal_full, Queue::load, Buffer::activation),
                            sync(SyncKind::wait_full, Queue::vector, Buffer::activation)};
  VectorCommand c;
  c.ops[0] = 100;
  append(body, {{Command{c}}, sync(SyncKind::signal_free, Queue::vector, Buffer::activation)});
  std::vector<Item> all = {sync(SyncKind::wait_free, Queue::load, Buffer::weight),
                           test::load(Buffer::weight, 64),
                           sync(SyncKind::signal_full, Queue::load, Buffer::weight),
                           sync(SyncKind::wait_full, Queue::execute, Buffer::weight),
                           sync(SyncKind::signal_free, Queue::execute, Buffer::weight)};
  all.push_back({Loop{0, "t", 10'000, body}});
  const Program p = test::program(all, 1);
  ASSERT_TRUE(verify(p, hw).ok()) << verify(p, hw).errors().front().text();
  EXPECT_EQ(simulate(p, hw, TimingMode::periodic).total, simulate(p, hw, TimingMode::step).total);
}

TEST(Simulator, KeepsNothingFromRunToRun) {
  const HwConfig hw = test::small_machine();
  StepWriter writer;
  Simulator simulator;
  std::mt19937 random(9);
  for (int i = 0; i < 50; ++i) {
    const Program p = test::random_program(random);
    if (!verify(p, hw).ok()) continue;
    write_steps(p, hw, writer);
    const Timing again =
        simulator.run(writer.steps(), hw, TimingMode::periodic, nullptr, writer.regions());
    EXPECT_EQ(again.total, simulate(p, hw).total);
  }
}

}  // namespace
}  // namespace accsim::hw
