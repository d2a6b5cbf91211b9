#include "hw/dram/cost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "hw/dram/closed_form.h"

namespace accsim::hw {
namespace {

HwConfig machine(DramPreset preset, int64_t channels, DramMap map, double clock_mhz, double share) {
  HwConfig hw;
  hw.clock_mhz = clock_mhz;
  hw.dram_model = DramModel::banked;
  hw.banked = {preset, channels, map, share};
  hw.dram = hw.banked.peak(clock_mhz);
  return hw;
}

std::vector<HwConfig> machines() {
  using enum DramMap;
  return {machine(DramPreset::ddr4_2400, 1, bank_group_low, 1000, 0.5),
          machine(DramPreset::ddr4_2400, 3, bank_group_high, 700, 0.75),
          machine(DramPreset::lpddr4_3200, 4, bank_group_low, 1600, 0.6),
          machine(DramPreset::hbm2, 8, bank_group_low, 940, 0.667),
          machine(DramPreset::hbm2, 128, bank_group_high, 100, 0.99)};
}

TEST(DramCosts, IsALongTransferThePeakTimesEfficiencyAndShare) {
  for (const HwConfig& hw : machines()) {
    const DramCosts costs(hw);
    const DramSystem system = dram_system(hw);
    const int64_t bytes = int64_t{1} << 30;
    for (const bool write : {false, true}) {
      const double share = write ? 1 - hw.banked.read_share : hw.banked.read_share;
      const double efficiency =
          estimate_dram(system, {DramWalk::sequential, 0, 0, write ? 1.0 : 0.0}).efficiency;
      const double seconds =
          static_cast<double>(bytes) / (system.device.peak_mb_per_s() * 1e6 *
                                        static_cast<double>(system.channels) * efficiency * share);
      const auto cycles = static_cast<double>(costs.transfer(bytes, 0, write).occupancy);
      EXPECT_NEAR(cycles, seconds * hw.clock_mhz * 1e6, 0.01 * cycles);
    }
  }
}

TEST(DramCosts, DoShortRunsCostWhatTheirEfficiencySays) {
  const HwConfig hw = machine(DramPreset::ddr4_2400, 1, DramMap::bank_group_low, 1200, 0.5);
  const DramCosts costs(hw);
  // One cycle is one clock; 1000 runs of a burst, tFAW / 4 each, over half of the bus time.
  const double refresh = (9.0 + 16 + 420 + 16 - 4) / 9360;
  const double wanted = 1000 * 6.5 / (1 - refresh) / 0.5;
  EXPECT_EQ(costs.transfer(64000, 64, false).occupancy, static_cast<int64_t>(std::ceil(wanted)));
  // Runs of ten bytes move a burst each.
  EXPECT_EQ(costs.transfer(10000, 10, false).occupancy, static_cast<int64_t>(std::ceil(wanted)));
  // A row conflict and the burst: tRP + tRCD + CL + 4.
  EXPECT_EQ(costs.transfer(64000, 64, false).latency, 16 + 16 + 16 + 4);
}

TEST(DramCosts, DoesMoreNeverCostLessNorLessThanThePeakAllows) {
  for (const HwConfig& hw : machines()) {
    const DramCosts costs(hw);
    for (const bool write : {false, true}) {
      const ByteRate peak = write ? hw.dram.write : hw.dram.read;
      for (const int64_t run : {0, 1, 64, 100, 1000, 4096}) {
        int64_t before = 0;
        for (int64_t bytes = 1; bytes < (int64_t{1} << 33); bytes += 1 + bytes / 50) {
          const DramCost cost = costs.transfer(bytes, run, write);
          ASSERT_GE(cost.occupancy, before) << bytes << " in runs of " << run;
          ASSERT_GE(cost.occupancy, peak.cycles(bytes)) << bytes << " in runs of " << run;
          before = cost.occupancy;
        }
      }
    }
  }
}

TEST(DramCosts, DoLongerRunsNotCostMore) {
  for (const HwConfig& hw : machines()) {
    const DramCosts costs(hw);
    const auto burst = dram_system(hw).device.burst_bytes();
    // Powers of two: between them a run may fill rows and channels less evenly.
    int64_t before = costs.transfer(int64_t{1} << 24, burst, false).occupancy;
    for (int64_t run = 2 * burst; run <= 16 * burst; run *= 2) {
      const int64_t now = costs.transfer(int64_t{1} << 24, run, false).occupancy;
      EXPECT_LE(now, before + before / 50) << run;
      before = now;
    }
  }
}

TEST(DramCosts, IsNothingFreeAndTheHugeDefined) {
  const DramCosts costs(machines().front());
  EXPECT_EQ(costs.transfer(0, 64, false), (DramCost{0, 0}));
  EXPECT_GE(costs.transfer(1, 1, true).occupancy, 1);
  EXPECT_GT(costs.transfer(INT64_MAX, INT64_MAX, true).occupancy, int64_t{1} << 50);
  EXPECT_GT(costs.transfer(INT64_MAX, 1, true).occupancy, int64_t{1} << 50);
}

TEST(DramCostsDeathTest, IsAnIdealMachineRefused) {
  EXPECT_DEATH(DramCosts(HwConfig{}), "only a banked DRAM");
}

}  // namespace
}  // namespace accsim::hw
