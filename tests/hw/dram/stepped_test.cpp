#include "hw/dram/stepped.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "dram_fixture.h"

namespace accsim::hw {
namespace {

DramSystem system_of(DramPreset preset, int64_t channels, DramMap map) {
  return {dram_device(preset), channels, map};
}

double measured(DramPreset preset, int64_t channels, DramMap map, const DramPattern& pattern) {
  return run_stepped(system_of(preset, channels, map), pattern, 300000).efficiency;
}

/// What DRAMsim3 and Ramulator 2.0 measure; three percent either way.
TEST(DramEfficiency, IsItThatOfTheDramSimulators) {
  using enum DramMap;
  const auto within = [](double found, double wanted) {
    EXPECT_NEAR(found, wanted, 0.03 * wanted);
  };
  const DramPattern sequential{};
  const DramPattern writes{DramWalk::sequential, 0, 0, 1.0 / 3};
  const DramPattern random{DramWalk::random, 64, 0, 0};
  within(measured(DramPreset::ddr4_2400, 1, bank_group_high, sequential), 0.776);
  within(measured(DramPreset::ddr4_2400, 1, bank_group_low, sequential), 0.955);
  within(measured(DramPreset::ddr4_2400, 1, bank_group_low, sequential), 0.948);  // Ramulator 2.0
  within(measured(DramPreset::ddr4_2400, 1, bank_group_low, writes), 0.903);
  within(measured(DramPreset::hbm2, 8, bank_group_low, sequential), 0.922);
  within(measured(DramPreset::hbm2, 8, bank_group_high, sequential), 0.922);
  within(measured(DramPreset::hbm2, 8, bank_group_low, random), 0.241);
}

/// Bounds that no controller can beat, from the timings alone.
TEST(DramEfficiency, IsItBelowTheBoundsOfRefreshAndActivates) {
  for (const DramPreset preset : test::all_presets()) {
    const DramDevice& d = dram_device(preset);
    const auto real = [](int64_t v) { return static_cast<double>(v); };
    const double awake = 1 - real(d.t.rfc) / real(d.t.refi);
    const double burst = real(d.burst_clocks);
    EXPECT_LT(measured(preset, 1, DramMap::bank_group_low, {}), awake);
    EXPECT_LT(measured(preset, 1, DramMap::bank_group_low, {DramWalk::random, 32, 0, 0}),
              awake * burst / (real(d.t.faw) / 4) * 1.001);
  }
}

/// An independent reading of the standards: the least time between two commands of a channel; 0:
/// none.
int64_t least_gap(const DramDevice& d, const DramEvent& a, const DramEvent& b) {
  using enum DramCommand;
  const DramTimings& t = d.t;
  const bool bank = a.bank == b.bank, group = a.bank / d.banks == b.bank / d.banks;
  const bool closes = b.command == precharge || b.command == precharge_all;
  const bool same = bank || b.command == precharge_all;
  switch (a.command) {
    case activate:
      if (b.command == activate) return bank ? t.rc : group ? t.rrd_l : t.rrd_s;
      if (closes) return same ? t.ras : 0;
      return b.command == refresh ? t.rc : bank ? t.rcd : 0;
    case read:
      if (b.command == read) return std::max(d.burst_clocks, group ? t.ccd_l : t.ccd_s);
      if (b.command == write) return t.rtw;
      return closes && same ? t.rtp : 0;
    case write:
      if (b.command == write) return std::max(d.burst_clocks, group ? t.ccd_l : t.ccd_s);
      if (b.command == read) return t.cwl + d.burst_clocks + (group ? t.wtr_l : t.wtr_s);
      return closes && same ? t.cwl + d.burst_clocks + t.wr : 0;
    case precharge:
      return b.command == refresh || (b.command == activate && bank) ? t.rp : 0;
    case precharge_all:
      return b.command == refresh || b.command == activate ? t.rp_all : 0;
    case refresh:
      return t.rfc;
  }
  return 0;
}

/// Checks one channel's commands, in order of time.
class Checker {
 public:
  explicit Checker(const DramDevice& device) : d_(device) {}

  void see(const DramEvent& e) {
    using enum DramCommand;
    ASSERT_TRUE(past_.empty() || e.clock >= past_.back().clock);
    for (size_t i = past_.size(); i > 0; --i) {
      const DramEvent& before = past_[i - 1];
      if (e.clock - before.clock > 1000) break;
      ASSERT_GE(e.clock - before.clock, least_gap(d_, before, e))
          << text(before) << " then " << text(e);
    }
    if (e.command == activate) {
      ASSERT_EQ(open_.count(e.bank), 0u) << text(e);
      open_[e.bank] = e.row;
      const size_t n = activates_.size();
      ASSERT_TRUE(n < 4 || e.clock - activates_[n - 4] >= d_.t.faw) << text(e);
      activates_.push_back(e.clock);
    }
    const bool column = e.command == read || e.command == write;
    ASSERT_TRUE(!column || open_.at(e.bank) == e.row) << text(e);
    ASSERT_TRUE(e.command != precharge || open_.erase(e.bank) == 1) << text(e);
    if (e.command == precharge_all) open_.clear();
    if (e.command == refresh) {
      ASSERT_TRUE(open_.empty());
      ++refreshes_;
      // Due every tREFI, and late only by what the banks need to close.
      const int64_t late = e.clock - refreshes_ * d_.t.refi;
      ASSERT_GE(late, 0);
      ASSERT_LE(late,
                d_.t.ras + d_.t.cwl + d_.burst_clocks + d_.t.wr + d_.t.rp_all + d_.t.act_slots);
    }
    past_.push_back(e);
  }
  int64_t refreshes() const { return refreshes_; }

 private:
  static std::string text(const DramEvent& e) {
    return std::to_string(static_cast<int>(e.command)) + " bank " + std::to_string(e.bank) +
           " at " + std::to_string(e.clock);
  }
  const DramDevice& d_;
  std::vector<DramEvent> past_;
  std::vector<int64_t> activates_;
  std::map<int, int64_t> open_;
  int64_t refreshes_ = 0;
};

std::vector<DramPattern> patterns() {
  return {{DramWalk::sequential, 0, 0, 0},    {DramWalk::sequential, 0, 0, 0.4},
          {DramWalk::random, 64, 0, 0},       {DramWalk::random, 64, 0, 0.5},
          {DramWalk::random, 700, 0, 0.25},   {DramWalk::strided, 128, 8192, 0.3},
          {DramWalk::strided, 64, 1 << 20, 0}};
}

TEST(DramStepped, DoesEveryCommandObeyEveryTiming) {
  for (const DramPreset preset : test::all_presets()) {
    for (const DramMap map : {DramMap::bank_group_low, DramMap::bank_group_high}) {
      for (const DramPattern& pattern : patterns()) {
        const DramSystem system = system_of(preset, 2, map);
        std::vector<Checker> checkers(2, Checker(system.device));
        const DramRun run = run_stepped(system, pattern, 6000, 1, [&](const DramEvent& e) {
          if (!testing::Test::HasFatalFailure()) checkers.at(static_cast<size_t>(e.channel)).see(e);
        });
        ASSERT_FALSE(testing::Test::HasFatalFailure());
        EXPECT_EQ(run.counts.reads + run.counts.writes, 6000);
        EXPECT_NEAR(static_cast<double>(run.counts.writes), 6000 * pattern.write_share, 60);
        EXPECT_EQ(run.counts.refreshes, checkers[0].refreshes() + checkers[1].refreshes());
      }
    }
  }
}

TEST(DramStepped, IsTheSameRunTheSameResult) {
  const DramSystem system = system_of(DramPreset::hbm2, 8, DramMap::bank_group_low);
  const DramPattern pattern{DramWalk::random, 256, 0, 0.3};
  const DramRun a = run_stepped(system, pattern, 5000, 7),
                b = run_stepped(system, pattern, 5000, 7);
  EXPECT_EQ(a.clocks, b.clocks);
  EXPECT_EQ(a.counts.activates, b.counts.activates);
  EXPECT_NE(a.clocks, run_stepped(system, pattern, 5000, 8).clocks);
}

/// One read of a closed bank: activate in clock 0 (its slots first), tRCD, CL, the burst.
TEST(DramStepped, IsASingleReadsTimeTheSumOfItsParts) {
  for (const DramPreset preset : test::all_presets()) {
    const DramDevice& d = dram_device(preset);
    const DramRun run = run_stepped(system_of(preset, 1, DramMap::bank_group_low), {}, 1);
    EXPECT_EQ(run.clocks, d.t.act_slots - 1 + d.t.rcd + d.t.cl + d.burst_clocks) << d.name;
    const DramRun write = run_stepped(system_of(preset, 1, DramMap::bank_group_low),
                                      {DramWalk::sequential, 0, 0, 1}, 1);
    EXPECT_EQ(write.clocks, d.t.act_slots - 1 + d.t.rcd + d.t.cwl + d.burst_clocks) << d.name;
  }
}

TEST(DramStepped, IsNothingMovedInNoTime) {
  const DramRun run = run_stepped(system_of(DramPreset::hbm2, 3, DramMap::bank_group_low), {}, 0);
  EXPECT_EQ(run.clocks, 0);
  EXPECT_EQ(run.efficiency, 0);
}

/// Every request to one bank and another row: each takes a row cycle.
TEST(DramStepped, IsAStrideThatMeetsOneBankBoundByItsRowCycle) {
  for (const DramPreset preset : test::all_presets()) {
    const DramDevice& d = dram_device(preset);
    const int64_t stride = d.all_banks() * d.row_bytes;
    const DramRun run = run_stepped(system_of(preset, 1, DramMap::bank_group_low),
                                    {DramWalk::strided, d.burst_bytes(), stride, 0}, 2000);
    const double each = static_cast<double>(run.clocks) / 2000;
    const double cycle = static_cast<double>(std::max(d.t.rc, d.t.rcd + d.t.rtp + d.t.rp));
    const double awake =
        1 - static_cast<double>(d.t.rfc + d.t.rp_all + d.t.ras) / static_cast<double>(d.t.refi);
    EXPECT_GE(each, cycle) << d.name;
    EXPECT_LE(each, cycle / awake * 1.01) << d.name;
  }
}

}  // namespace
}  // namespace accsim::hw
