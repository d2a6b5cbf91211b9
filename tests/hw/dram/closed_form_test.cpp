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

/// Run lengths from one burst to many rows, of one preset.
Errors over_runs(DramPreset preset, double write_share) {
  Errors errors;
  for (const DramSystem& system : systems()) {
    if (system.device.name != name(preset)) continue;
    const bool alone = system.channels == 1;
    const std::vector<int64_t> runs =
        alone ? std::vector<int64_t>{1, 2, 3, 4, 7, 8, 12, 16, 24, 37, 64, 128, 256, 2048}
              : std::vector<int64_t>{1, 3, 16 * system.channels};
    for (const int64_t run : runs) {
      const DramPattern pattern{DramWalk::random, run * system.device.burst_bytes(), 0,
          write_share};
      // Enough for ten refreshes of every channel, so that one more or less is nothing.
      errors.add(system, pattern, std::max<int64_t>(12000 * system.channels, run * 20));
    }
  }
  return errors;
}

/// What the document promises of a preset: the share of points within three percent, and the worst.
struct Promise {
  DramPreset preset;
  double write_share, within, worst;
};

class ClosedFormRuns : public testing::TestWithParam<Promise> {};

TEST_P(ClosedFormRuns, IsItAsCloseAsItsDocumentSays) {
  const Promise& p = GetParam();
  const Errors errors = over_runs(p.preset, p.write_share);
  EXPECT_GE(errors.within(3), p.within) << name(p.preset) << " " << p.write_share;
  EXPECT_LE(errors.worst(), p.worst) << name(p.preset) << " " << p.write_share;
}

INSTANTIATE_TEST_SUITE_P(Presets, ClosedFormRuns, testing::Values(
    Promise{DramPreset::ddr4_2400, 0, 1, 3}, Promise{DramPreset::ddr4_2400, 1, 1, 3},
    Promise{DramPreset::ddr4_2400, 0.25, 0.95, 4.5}, Promise{DramPreset::ddr4_2400, 0.5, 0.78, 6},
    Promise{DramPreset::ddr4_2400, 0.75, 0.9, 5},
    Promise{DramPreset::hbm2, 0, 1, 3}, Promise{DramPreset::hbm2, 1, 1, 3},
    Promise{DramPreset::hbm2, 0.25, 0.87, 9}, Promise{DramPreset::hbm2, 0.5, 0.85, 8},
    Promise{DramPreset::hbm2, 0.75, 0.75, 9.5},
    Promise{DramPreset::lpddr4_3200, 0, 0.87, 9}, Promise{DramPreset::lpddr4_3200, 1, 0.68, 9},
    Promise{DramPreset::lpddr4_3200, 0.5, 0.72, 9}));

TEST(ClosedForm, IsItWithinThreePercentForSequentialStreams) {
  for (const DramSystem& system : systems()) {
    for (const double writes : {0.0, 0.1, 0.25, 0.5, 0.75, 1.0}) {
      Errors errors;
      errors.add(system, {DramWalk::sequential, 0, 0, writes}, 40000);
      // With the groups high, most of a row's bursts are written: reads may share its group.
      const bool shared_rows = system.device.t.ccd_l > system.device.burst_clocks &&
                               system.map == DramMap::bank_group_high && writes > 0.5 && writes < 1;
      EXPECT_LE(errors.worst(), shared_rows ? 10 : 3)
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
