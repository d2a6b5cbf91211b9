#include "hw/dram/closed_form.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "dram_fixture.h"
#include "hw/dram/stepped.h"

namespace accsim::hw {
namespace {

constexpr double kLimit = 3;  // percent, what the document promises

/// By how much the closed form's time is off, in percent of it.
double error(const DramSystem& system, const DramPattern& pattern, int64_t bursts) {
  const double stepped = run_stepped(system, pattern, bursts).efficiency;
  return (stepped / estimate_dram(system, pattern).efficiency - 1) * 100;
}

std::vector<DramSystem> systems() {
  std::vector<DramSystem> out;
  for (const DramPreset preset : test::all_presets()) {
    for (const DramMap map : {DramMap::bank_group_low, DramMap::bank_group_high}) {
      // LPDDR4 has one group: the maps are the same.
      if (preset == DramPreset::lpddr4_3200 && map == DramMap::bank_group_high) continue;
      for (const int64_t channels : {1, 8}) out.push_back({dram_device(preset), channels, map});
    }
  }
  return out;
}

class ClosedFormRuns : public testing::TestWithParam<std::tuple<DramPreset, double>> {};

/// Run lengths from one burst to many rows; tests/dram_grid has more of the same.
TEST_P(ClosedFormRuns, IsItWithinThreePercentOfTheSteppedModel) {
  const auto& [preset, write_share] = GetParam();
  for (const DramSystem& system : systems()) {
    if (system.device.name != name(preset)) continue;
    const bool alone = system.channels == 1;
    const std::vector<int64_t> runs =
        alone ? std::vector<int64_t>{1, 2, 3, 4, 7, 12, 16, 37, 64, 128, 512}
              : std::vector<int64_t>{3, 12 * system.channels};
    for (const int64_t run : runs) {
      const DramPattern pattern{DramWalk::random, run * system.device.burst_bytes(), 0,
                                write_share};
      // Enough for the end of the slowest channel to be as good as the mean.
      EXPECT_NEAR(error(system, pattern, (alone ? 60000 : 20000) * system.channels), 0, kLimit)
          << system.device.name << " " << system.channels << " " << name(system.map) << " runs of "
          << run << ", writes " << write_share;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, ClosedFormRuns,
                         testing::Combine(testing::Values(DramPreset::ddr4_2400, DramPreset::hbm2,
                                                          DramPreset::lpddr4_3200),
                                          testing::Values(0.0, 0.25, 0.5, 1.0)));

TEST(ClosedForm, IsItWithinThreePercentForSequentialStreams) {
  for (const DramSystem& system : systems()) {
    for (const double writes : {0.0, 0.1, 0.25, 0.5, 0.75, 1.0}) {
      EXPECT_NEAR(error(system, {DramWalk::sequential, 0, 0, writes}, 20000 * system.channels), 0,
                  kLimit)
          << system.device.name << " " << system.channels << " " << name(system.map) << " "
          << writes;
    }
  }
}

/// Strides that meet all, few or one of the banks, groups and channels.
TEST(ClosedForm, IsItWithinThreePercentForStrides) {
  for (const DramSystem& system : systems()) {
    const DramDevice& d = system.device;
    const int64_t burst = d.burst_bytes();
    const int64_t bank = d.all_banks() * d.row_bytes * system.channels;  // same bank, next row
    for (const double writes : {0.0, 0.5, 1.0}) {
      for (const int64_t stride : {bank, burst * system.channels, 5 * burst, 100 * burst}) {
        EXPECT_NEAR(
            error(system, {DramWalk::strided, burst, stride, writes}, 24000 * system.channels), 0,
            kLimit)
            << d.name << " " << system.channels << " " << name(system.map) << " " << stride << " "
            << writes;
      }
    }
  }
}

/// Figures by hand. DDR4, random single reads: four activates in tFAW, one burst each.
TEST(ClosedForm, IsItTheArithmeticOfItsDocument) {
  const DramDevice& d = dram_device(DramPreset::ddr4_2400);
  const auto one = estimate_dram({d, 1, DramMap::bank_group_low}, {DramWalk::random, 64, 0, 0});
  const double refresh = (9.0 + 16 + 420 + 16 - 4) / 9360;  // tRTP, tRP, tRFC, tRCD less a burst
  EXPECT_NEAR(one.clocks_per_burst, 26.0 / 4 / (1 - refresh), 1e-9);
  EXPECT_NEAR(one.efficiency, 4 / one.clocks_per_burst, 1e-12);
  EXPECT_NEAR(one.activates_per_burst, 1, 1e-12);
  const auto stream = estimate_dram({d, 1, DramMap::bank_group_low}, {});
  EXPECT_NEAR(stream.efficiency, 1 - refresh, 1e-4);
  // A run of 256 bursts, 64 a group, begins anywhere among 512: visits = 4 + S / 512 where S sums
  // min(x, 4) + min(256 - x, 4) - 4 over the 255 places of a boundary, 4 x 255 - 2 x (3 + 2 + 1).
  const auto run =
      estimate_dram({d, 1, DramMap::bank_group_low}, {DramWalk::random, 256 * 64, 0, 0});
  EXPECT_NEAR(run.activates_per_burst * 256, 4 + (4.0 * 255 - 12) / 512, 1e-9);
}

/// The stepped model counts as many row visits as the formula expects.
TEST(ClosedForm, AreItsActivatesThoseOfTheSteppedModel) {
  for (const DramSystem& system : systems()) {
    for (const int64_t run : {1, 5, 32, 300}) {
      const DramPattern pattern{DramWalk::random, run * system.device.burst_bytes(), 0, 0};
      const int64_t bursts = 30000 * system.channels;
      const DramRun stepped = run_stepped(system, pattern, bursts);
      const double found =
          static_cast<double>(stepped.counts.activates) / static_cast<double>(bursts);
      // More by those after refreshes, fewer by chance hits.
      EXPECT_NEAR(estimate_dram(system, pattern).activates_per_burst, found, 0.06 * found + 0.003)
          << system.device.name << " " << system.channels << " " << name(system.map) << " " << run;
    }
  }
}

TEST(ClosedForm, IsItDefinedAtTheEnds) {
  for (const DramSystem& system : systems()) {
    for (const double writes : {0.0, 1e-9, 1.0}) {
      for (const int64_t run : {int64_t{0}, int64_t{1}, int64_t{1} << 40}) {
        const auto e = estimate_dram(system, {DramWalk::random, run, 0, writes});
        EXPECT_GT(e.efficiency, 0);
        EXPECT_LT(e.efficiency, 1);
      }
    }
  }
}

}  // namespace
}  // namespace accsim::hw
