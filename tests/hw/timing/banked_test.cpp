#include <gtest/gtest.h>

#include "hw/dram/cost.h"
#include "hw/timing/timing.h"
#include "tests/support/machines.h"
#include "tests/support/timings.h"

namespace accsim::hw {
namespace {

HwConfig banked_machine() {
  HwConfig hw = test::small_machine();
  hw.dram_model = DramModel::banked;
  hw.banked = {.preset = DramPreset::ddr4_2400, .channels = 2};
  hw.dram = hw.banked.peak(hw.clock_mhz);
  for (BufferConfig& b : hw.buffers) b.width = b.width > 0 ? 1024 : 0;  // ports never limit
  return hw;
}

/// A load of runs: the transfer's occupancy by hw/dram, its latency, and one token.
TEST(BankedTiming, TransfersTakeWhatTheDramSays) {
  const HwConfig hw = banked_machine();
  const DramCosts costs(hw);
  for (const int64_t run : {8, 64, 512, 1024}) {
    const int64_t runs = 1024 / run;
    LoadCommand c;
    c.buffer = Buffer::activation;
    c.walk = {{{runs, 2 * run}}, run};
    const Program p = test::program({test::sync(SyncKind::wait_free, Queue::load, c.buffer),
                                     {Command{c}},
                                     test::sync(SyncKind::signal_full, Queue::load, c.buffer)});
    const DramCost cost = costs.transfer(1024, run, false);
    const Timing t = simulate(p, hw);
    EXPECT_EQ(t.queue(Queue::load).busy.count(), std::max(cost.occupancy, runs)) << run;
    EXPECT_EQ(t.total.count(), std::max(cost.occupancy, runs) + cost.latency) << run;
  }
  EXPECT_GT(costs.transfer(1024, 8, false).occupancy, costs.transfer(1024, 1024, false).occupancy)
      << "short runs waste bursts";
}

TEST(BankedTiming, SkippingPeriodsStaysExact) {
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    HwConfig hw = test::random_machine(random);
    hw.dram_model = DramModel::banked;
    hw.banked = {.preset = static_cast<DramPreset>(random() % kDramPresets),
                 .channels = static_cast<int64_t>(1 + random() % 4),
                 .map = static_cast<DramMap>(random() % kDramMaps)};
    hw.dram = hw.banked.peak(hw.clock_mhz);
    const Program p = test::random_program(random);
    if (!verify(p, hw).ok()) continue;
    EXPECT_TRUE(test::equal(simulate(p, hw, TimingMode::step), simulate(p, hw)));
  }
}

}  // namespace
}  // namespace accsim::hw
