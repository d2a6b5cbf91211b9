#include "hw/dram/closed_form.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dram_fixture.h"
#include "hw/dram/stepped.h"

namespace accsim {
namespace {

/// How far the closed form is from the stepped model, over many points.
struct Errors {
  std::vector<double> percent;  ///< of the time, without sign

  void add(const DramSystem& system, const DramPattern& pattern, int64_t bursts) {
    const double stepped = run_stepped(system, pattern, bursts).efficiency;
    percent.push_back(std::abs(stepped / estimate_dram(system, pattern).efficiency - 1) * 100);
  }
  double worst() const { return *std::max_element(percent.begin(), percent.end()); }
  double within(double limit) const {
    const auto good =
        std::count_if(percent.begin(), percent.end(), [&](double e) { return e <= limit; });
    return static_cast<double>(good) / static_cast<double>(percent.size());
  }
};

std::vector<DramSystem> systems() {
  std::vector<DramSystem> out;
  for (const DramPreset preset : test::all_presets()) {
    for (const DramMap map : {DramMap::bank_group_low, DramMap::bank_group_high}) {
      // LPDDR4 has one group: the maps are the same.
      if (preset == DramPreset::lpddr4_3200 && map == DramMap::bank_group_high) continue;
      for (const int64_t channels : {1, 2, 8}) out.push_back({dram_device(preset), channels, map});
    }
  }
  return out;
}

/// Run lengths from one burst to many rows, every system.
Errors over_runs(double write_share) {
  Errors errors;
  for (const DramSystem& system : systems()) {
    for (const int64_t run : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 2048}) {
      const DramPattern pattern{DramWalk::random, run * system.device.burst_bytes(), 0,
          write_share};
      errors.add(system, pattern, std::max<int64_t>(30000, run * 60));
    }
  }
  return errors;
}

TEST(ClosedForm, IsItWithinThreePercentForReads) {
  const Errors errors = over_runs(0);
  EXPECT_GE(errors.within(3), 0.94);
  EXPECT_LE(errors.worst(), 9);  // LPDDR4, runs of two bursts a channel
}

TEST(ClosedForm, IsItWithinThreePercentForMostWrites) {
  const Errors errors = over_runs(1);
  EXPECT_GE(errors.within(3), 0.80);
  EXPECT_LE(errors.worst(), 13);  // LPDDR4, runs of a few bursts: its banks and bus are about even
}

TEST(ClosedForm, IsItAFairEstimateForMixedRuns) {
  const Errors errors = over_runs(0.25);
  EXPECT_GE(errors.within(5), 0.70);
  EXPECT_LE(errors.worst(), 16);
}

TEST(ClosedForm, IsItWithinThreePercentForSequentialStreams) {
  for (const DramSystem& system : systems()) {
    for (const double writes : {0.0, 0.2, 1.0 / 3, 0.5, 1.0}) {
      Errors errors;
      errors.add(system, {DramWalk::sequential, 0, 0, writes}, 50000);
      // With the groups high, reads and writes see parts of rows that depend on both queues.
      const bool shared_rows = system.device.t.ccd_l > system.device.burst_clocks &&
                               system.map == DramMap::bank_group_high && writes > 0 && writes < 1;
      EXPECT_LE(errors.worst(), shared_rows ? 8 : 3)
          << system.device.name << " " << system.channels << " " << name(system.map) << " " << writes;
    }
  }
}

TEST(ClosedForm, DoesItSeeStridesThatMeetFewBanksOrChannels) {
  for (const DramSystem& system : systems()) {
    const DramDevice& d = system.device;
    const int64_t bank = d.all_banks() * d.row_bytes * system.channels;  // same bank, next row
    Errors errors;
    errors.add(system, {DramWalk::strided, d.burst_bytes(), bank, 0}, 4000);
    errors.add(system, {DramWalk::strided, d.burst_bytes(), d.burst_bytes() * system.channels, 0},
        30000);
    EXPECT_LE(errors.worst(), 6) << d.name << " " << system.channels << " " << name(system.map);
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
  const auto run = estimate_dram({d, 1, DramMap::bank_group_low}, {DramWalk::random, 256 * 64, 0,
      0});
  EXPECT_NEAR(run.activates_per_burst * 256, 4 + (4.0 * 255 - 12) / 512, 1e-9);
}

/// The stepped model counts as many row visits as the formula expects.
TEST(ClosedForm, AreItsActivatesThoseOfTheSteppedModel) {
  for (const DramSystem& system : systems()) {
    for (const int64_t run : {1, 5, 32, 300}) {
      const DramPattern pattern{DramWalk::random, run * system.device.burst_bytes(), 0, 0};
      const DramRun stepped = run_stepped(system, pattern, 60000);
      const double found = static_cast<double>(stepped.counts.activates) / 60000;
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
}  // namespace accsim
