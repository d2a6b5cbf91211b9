#include <gtest/gtest.h>

#include "hw/dram/cost.h"
#include "hw/timing/simulator.h"
#include "hw/timing/timing.h"
#include "tests/hw/timing/one_transfer.h"
#include "tests/support/machines.h"
#include "tests/support/timings.h"

namespace accsim::hw {
namespace {

using test_steps::total, test_steps::transfer;

HwConfig banked_machine() {
  HwConfig hw = test::small_machine();
  hw.dram_model = DramModel::banked;
  hw.banked = {.preset = DramPreset::ddr4_2400, .channels = 2};
  hw.dram = hw.banked.peak_channel(hw.clock_mhz);
  for (BufferConfig& b : hw.buffers) b.width = b.width > 0 ? 1024 : 0;  // ports never limit
  return hw;
}

constexpr int64_t kTick = kDramTicks;

/// A load of runs: the transfer's bus time by hw/dram, its latency, and one token.
TEST(BankedTiming, TransfersTakeWhatTheDramSays) {
  const HwConfig hw = banked_machine();
  DramCosts costs(hw);
  for (const int64_t run : {8, 64, 512, 1024}) {
    const int64_t runs = 1024 / run;
    LoadCommand c;
    c.buffer = Buffer::activation;
    c.walk = {{{runs, 2 * run}}, run};
    const Program p = test::program({test::sync(SyncKind::wait_free, Queue::load, c.buffer),
                                     {Command{c}},
                                     test::sync(SyncKind::signal_full, Queue::load, c.buffer)});
    const std::array<DramTransfer::Level, 1> levels = {{{runs, 2 * run}}};
    const DramCost cost = costs.transfer_cost({levels, run, false});
    const Timing t = simulate(p, hw);
    const int64_t least = std::max(runs, cost.alone);
    EXPECT_EQ(t.queue(Queue::load).busy.count(), std::max(cost.bus / kTick, least)) << run;
    EXPECT_EQ(t.total.count(), std::max(ceil_div(cost.bus, kTick), least) + cost.latency) << run;
  }
}

/// Ticks of the bus for a transfer of that many bytes in one run.
int64_t bus(const HwConfig& hw, int64_t bytes, bool write) {
  return DramCosts(hw).transfer_cost({{}, bytes, write}).bus;
}

TEST(BankedTiming, ReadsAloneHaveTheWholeBus) {
  const HwConfig hw = banked_machine();
  const std::vector<Step> loads(100, transfer(hw, false, 4096));
  // Parts of a cycle aren't lost between them.
  EXPECT_EQ(total(hw, loads), ceil_div(100 * bus(hw, 4096, false), kTick) + hw.dram.latency);
}

TEST(BankedTiming, AWriteBetweenReadsCostsItsTimeAndTwoTurns) {
  const HwConfig hw = banked_machine();
  const DramCosts costs(hw);
  const Step load = transfer(hw, false, 4096), store = transfer(hw, true, 4096);
  // The bus has the store when the load before it is done, and no sooner.
  const int64_t ticks = 2 * bus(hw, 4096, false) + bus(hw, 4096, true) + costs.turn_ticks(true) +
                        costs.turn_ticks(false);
  EXPECT_EQ(total(hw, {load, store, load}), ceil_div(ticks, kTick) + hw.dram.latency);
}

/// However reads and writes mix: not above the rate of the bus, and never idle while one waits.
TEST(BankedTiming, ReadsAndWritesTogetherTakeTheTimeOfBoth) {
  std::mt19937 random(7);
  const HwConfig hw = banked_machine();
  const DramCosts costs(hw);
  for (int i = 0; i < 200; ++i) {
    std::vector<Step> steps;
    int64_t ticks = 0, changes = 0;
    for (int k = 0; k < 20; ++k) {
      const bool write = random() % 3 == 0;
      const auto bytes = static_cast<int64_t>(64 * (1 + random() % 100));
      changes += k > 0 && (steps.back().kind == Step::Kind::store) != write;
      steps.push_back(transfer(hw, write, bytes));
      ticks += bus(hw, bytes, write);
    }
    const int64_t cycles = total(hw, steps) - hw.dram.latency;
    EXPECT_GE(cycles, ticks / kTick);
    EXPECT_LE(
        cycles,
        ceil_div(ticks + changes * (costs.turn_ticks(true) + costs.turn_ticks(false)), kTick) + 20);
  }
}

/// Half of the channels, by turns: what loops do to a transfer is a part of what it costs.
TEST(BankedTiming, TransfersLieWhereTheLoopsAroundThemSay) {
  const HwConfig hw = banked_machine();
  DramCosts costs(hw);
  const std::array<DramTransfer::Level, 1> levels = {{{500, 128}}};
  const std::array<DramTransfer::Level, 2> around = {{{9, 0}, {2, 64}}};
  StepWriter w;
  w.start_program(hw, Dataflow::weight_stationary);
  w.open_loop(9);
  w.open_loop(2);
  w.load(Buffer::activation, MemoryId::dram, {{{500, 128}}, 64}, {{1, 64}});
  w.store(MemoryId::dram, {{{500, 128}}, 64}, {{1, 48}, {1, 16}});
  w.close_loop();
  w.close_loop();
  const std::span<const Step> steps = w.steps();
  EXPECT_EQ(steps[steps.size() - 2].bus,
            costs.transfer_cost({levels, 64, false, false, around}).bus);
  EXPECT_EQ(steps.back().bus, costs.transfer_cost({levels, 64, true, false, around}).bus);
  EXPECT_LT(steps.back().bus, costs.transfer_cost({levels, 64, true}).bus);
}

/// Loads of single columns in one bank: the bus waits with them, but for the turns that they may
/// take while the bank is at work.
TEST(BankedTiming, TheBusIsHeldByBatchesThatWaitForTheirBanks) {
  const HwConfig hw = banked_machine();
  const DramDevice& device = dram_device(hw.banked.preset);
  const Walk rows{{{16, device.row_bytes * hw.banked.channels * device.all_banks()}}, 64};
  StepWriter w;
  w.start_program(hw, Dataflow::weight_stationary);
  w.load(Buffer::activation, MemoryId::dram, rows);
  const Step load = w.steps()[0], store = transfer(hw, true, 64);
  ASSERT_LT(load.bus, load.occupancy);
  ASSERT_GT(load.bus, load.occupancy * 9 / 10);
  const int64_t alone = total(hw, {load}), stored = total(hw, {store});
  EXPECT_EQ(total(hw, {load, store}),
            std::max(alone, stored + ceil_div(load.bus + store.turn_to, kTick)));
  // The load begins in the cycle in which the bus is its own.
  EXPECT_EQ(total(hw, {store, load}), alone + (store.bus + load.turn_to) / kTick);
}

/// Stops counting a loop's iterations where it is skipped ahead.
class IterationCounter : public Watcher {
 public:
  int64_t iterations = 0;
  void on_command(const TimedStep&) override {}
  void end_iteration(const Step&) override { ++iterations; }
};

/// Tiles that are loaded, computed and stored, on a bus that is busy all, half or little of the
/// time.
TEST(BankedTiming, LoopsAreSkippedWhateverTheBusIsBusyWith) {
  const HwConfig hw = banked_machine();
  for (const int64_t pixels : {1, 20, 64})
    for (const int64_t in : {640, 4096})
      for (const int64_t out : {64, 2048}) {
        StepWriter w;
        w.start_program(hw, Dataflow::weight_stationary);
        w.open_loop(1000);
        w.sync(SyncKind::wait_free, Queue::load, Buffer::activation);
        w.load(Buffer::activation, MemoryId::dram, {{}, in});
        w.sync(SyncKind::signal_full, Queue::load, Buffer::activation);
        w.sync(SyncKind::wait_full, Queue::execute, Buffer::activation);
        w.sync(SyncKind::wait_free, Queue::execute, Buffer::accumulator);
        w.gemm(pixels, 8, 8);
        w.sync(SyncKind::signal_free, Queue::execute, Buffer::activation);
        w.sync(SyncKind::signal_full, Queue::execute, Buffer::accumulator);
        w.sync(SyncKind::wait_full, Queue::post, Buffer::accumulator);
        w.sync(SyncKind::wait_free, Queue::post, Buffer::output);
        w.post(pixels, 8);
        w.sync(SyncKind::signal_free, Queue::post, Buffer::accumulator);
        w.sync(SyncKind::signal_full, Queue::post, Buffer::output);
        w.sync(SyncKind::wait_full, Queue::store, Buffer::output);
        w.store(MemoryId::dram, {{}, out});
        w.sync(SyncKind::signal_free, Queue::store, Buffer::output);
        w.close_loop();
        IterationCounter counter;
        const Timing fast = Simulator().run(w.steps(), hw, TimingMode::periodic, &counter);
        EXPECT_LE(counter.iterations, 40) << pixels << ' ' << in << ' ' << out;
        EXPECT_TRUE(test::equal(Simulator().run(w.steps(), hw, TimingMode::step), fast));
      }
}

TEST(BankedTiming, SkippingPeriodsStaysExact) {
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    HwConfig hw = test::random_machine(random);
    hw.dram_model = DramModel::banked;
    hw.banked = {.preset = static_cast<DramPreset>(random() % kDramPresets),
                 .channels = static_cast<int64_t>(1 + random() % 4),
                 .map = static_cast<DramMap>(random() % kDramMaps)};
    hw.dram = hw.banked.peak_channel(hw.clock_mhz);
    const Program p = test::random_program(random);
    if (!verify(p, hw).ok()) continue;
    EXPECT_TRUE(test::equal(simulate(p, hw, TimingMode::step), simulate(p, hw)));
  }
}

}  // namespace
}  // namespace accsim::hw
