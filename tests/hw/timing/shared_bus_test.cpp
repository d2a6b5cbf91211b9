#include <gtest/gtest.h>

#include "hw/program/core_runs.h"
#include "hw/timing/simulator.h"
#include "hw/timing/timing.h"
#include "tests/hw/timing/one_transfer.h"
#include "tests/support/machines.h"
#include "tests/support/timings.h"

namespace accsim::hw {
namespace {

using test_steps::total, test_steps::transfer;

/// Reads at 4 bytes a cycle and writes at 2, on one bus.
HwConfig shared_machine() {
  HwConfig hw = test::small_machine();
  hw.dram_bus = DramBus::shared;
  for (BufferConfig& b : hw.buffers) b.width = b.width > 0 ? 1024 : 0;  // ports never limit
  return hw;
}

HwConfig separate(HwConfig hw) {
  hw.dram_bus = DramBus::separate;
  return hw;
}

TEST(SharedBus, HasATransferAllOfIt) {
  const HwConfig hw = shared_machine();
  EXPECT_EQ(total(hw, {transfer(hw, false, 4096)}), 4096 / 4 + hw.dram.latency);
  EXPECT_EQ(total(hw, {transfer(hw, true, 4096)}), 4096 / 2 + hw.dram.latency);
  // One direction alone is as it is on a channel of its own.
  const std::vector<Step> loads(50, transfer(hw, false, 4096));
  const HwConfig own = separate(hw);
  const std::vector<Step> own_loads(50, transfer(own, false, 4096));
  EXPECT_EQ(total(hw, loads), total(own, own_loads));
}

/// However reads and writes mix, the bus is never idle while one waits, and they take turns for
/// nothing.
TEST(SharedBus, ReadsAndWritesTogetherTakeTheTimeOfBoth) {
  std::mt19937 random(7);
  const HwConfig hw = shared_machine();
  for (int i = 0; i < 200; ++i) {
    std::vector<Step> steps;
    int64_t cycles = 0;
    for (int k = 0; k < 20; ++k) {
      const bool write = random() % 3 == 0;
      const auto bytes = static_cast<int64_t>(64 * (1 + random() % 100));
      steps.push_back(transfer(hw, write, bytes));
      cycles += bytes / (write ? 2 : 4);
    }
    EXPECT_EQ(total(hw, steps), cycles + hw.dram.latency);
  }
}

/// A load, a store of twice its time, and a load again.
TEST(SharedBus, TakesTurnsWhereTwoChannelsGoSideBySide) {
  const HwConfig hw = shared_machine(), own = separate(hw);
  const auto both = [](const HwConfig& m) {
    return total(m, {transfer(m, false, 4096), transfer(m, true, 4096), transfer(m, false, 4096)});
  };
  EXPECT_EQ(both(hw), 1024 + 2048 + 1024 + hw.dram.latency);
  EXPECT_EQ(both(own), 2048 + own.dram.latency) << "side by side";
}

TEST(SharedBus, SkippingPeriodsStaysExact) {
  std::mt19937 random(3);
  int programs = 0;
  for (int i = 0; i < 700; ++i) {
    HwConfig hw = test::random_machine(random);
    hw.dram_bus = DramBus::shared;
    const Program p = test::random_program(random);
    if (!verify(p, hw).ok()) continue;
    ++programs;
    EXPECT_TRUE(test::equal(simulate(p, hw, TimingMode::step), simulate(p, hw)));
  }
  EXPECT_GT(programs, 100);
}

TEST(SharedBus, IsTimedAndNotVerified) {
  HwConfig hw = shared_machine();
  EXPECT_EQ(core_lacks(hw), CoreLack::one_bus);
  EXPECT_EQ(core_lacks(separate(hw)), CoreLack::wide_ports) << "and nothing of its memory";
  // The key says nothing of real parts, whose one bus has turns.
  hw.dram_model = DramModel::banked;
  EXPECT_EQ(core_lacks(hw), CoreLack::banked_dram);
}

}  // namespace
}  // namespace accsim::hw
