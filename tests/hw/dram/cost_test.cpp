#include "hw/dram/cost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "hw/dram/closed_form.h"
#include "hw/dram/strided.h"
#include "two_lanes.h"

namespace accsim::hw {
namespace {

HwConfig machine(DramPreset preset, int64_t channels, DramMap map, double clock_mhz) {
  HwConfig hw;
  hw.clock_mhz = clock_mhz;
  hw.dram_model = DramModel::banked;
  hw.banked = {preset, channels, map};
  hw.dram = hw.banked.peak_channel(clock_mhz);
  return hw;
}

std::vector<HwConfig> machines() {
  using enum DramMap;
  return {machine(DramPreset::ddr4_2400, 1, bank_group_low, 1000),
          machine(DramPreset::ddr4_2400, 3, bank_group_high, 700),
          machine(DramPreset::lpddr4_3200, 4, bank_group_low, 1600),
          machine(DramPreset::hbm2, 8, bank_group_low, 940),
          machine(DramPreset::hbm2, 128, bank_group_high, 100)};
}

using Levels = std::vector<DramTransfer::Level>;

double cycles(DramCosts& costs, const DramTransfer& transfer) {
  const DramCost cost = costs.transfer_cost(transfer);
  return std::max(static_cast<double>(cost.bus) / kDramTicks, static_cast<double>(cost.alone));
}
double cycles(DramCosts& costs, const Levels& levels, int64_t run, bool write,
              bool scattered = false) {
  return cycles(costs, {levels, run, write, scattered});
}

TEST(DramCosts, IsALongTransferThePeakTimesEfficiency) {
  for (const HwConfig& hw : machines()) {
    DramCosts costs(hw);
    const DramSystem system = dram_system(hw);
    const int64_t bytes = int64_t{1} << 30;
    for (const bool write : {false, true}) {
      const double efficiency =
          estimate_dram(system, {DramWalk::sequential, 0, 0, write ? 1.0 : 0.0}).efficiency;
      const double seconds =
          static_cast<double>(bytes) /
          (system.device.peak_mb_per_s() * 1e6 * static_cast<double>(system.channels) * efficiency);
      const double wanted = seconds * hw.clock_mhz * 1e6;
      EXPECT_NEAR(cycles(costs, {}, bytes, write), wanted, 1e-6 * wanted + 1);
    }
  }
}

TEST(DramCosts, DoTransfersThatContinueOneAnotherCostWhatTheyDoTogether) {
  for (const HwConfig& hw : machines()) {
    DramCosts costs(hw);
    const int64_t bytes = 64 * dram_system(hw).device.burst_bytes();
    const double tick = 1.0 / kDramTicks;
    EXPECT_NEAR(100 * cycles(costs, {}, bytes, false), cycles(costs, {}, 100 * bytes, false),
                100 * tick);
    // Levels that continue their runs are no more than one run.
    EXPECT_EQ(cycles(costs, {{5, 2 * bytes}, {2, bytes}}, bytes, true),
              cycles(costs, {}, 10 * bytes, true));
  }
}

TEST(DramCosts, DoShortScatteredRunsCostWhatTheirEfficiencySays) {
  DramCosts costs(machine(DramPreset::ddr4_2400, 1, DramMap::bank_group_low, 1200));
  // One cycle is one clock; 1000 runs of a burst, tFAW / 4 each.
  const double refresh = (9.0 + 16 + 420 + 16 - 4) / 9360;
  const double wanted = 1000 * 6.5 / (1 - refresh);
  EXPECT_NEAR(cycles(costs, {{1000, 0}}, 64, false, true), wanted, 1.0 / kDramTicks);
  // Runs of ten bytes move a burst each.
  EXPECT_NEAR(cycles(costs, {{1000, 0}}, 10, false, true), wanted, 1.0 / kDramTicks);
  // A row conflict and the burst: tRP + tRCD + CL + 4.
  EXPECT_EQ(costs.transfer_cost({{}, 64, false, true}).latency, 16 + 16 + 16 + 4);
}

/// Of N channels a stride of N bursts meets one, of two channels' worth of bursts every other one.
TEST(DramCosts, DoStridesThatMeetFewChannelsTakeAsMuchLonger) {
  DramCosts costs(machine(DramPreset::ddr4_2400, 8, DramMap::bank_group_low, 1200));
  const double refresh = (9.0 + 16 + 420 + 16 - 4) / 9360;
  // Every second burst, four channels of eight: a burst takes four clocks of one of the four.
  EXPECT_NEAR(cycles(costs, {{1024, 128}}, 64, false), 1024.0 / 4 * 4 / (1 - refresh), 1);
  // Every eighth: one channel.
  EXPECT_NEAR(cycles(costs, {{1024, 512}}, 64, false), 1024.0 * 4 / (1 - refresh), 1);
  // Every 32nd: one channel, of which one bank group: tCCD_L.
  EXPECT_NEAR(cycles(costs, {{1024, 2048}}, 64, false), 1024.0 * 6 / (1 - refresh), 1);
  // Each in another row of one bank, tRC apart: columns of a row, groups, banks and channels are
  // below it.
  const int64_t row = int64_t{8} * 4 * 4 * 8192;
  EXPECT_NEAR(cycles(costs, {{1024, row}}, 64, false), 1024.0 * 55 / (1 - refresh), 1);
  // Meanwhile the bus is busy for the same time, but for the turns after every 32 bursts.
  const Levels rows = {{1024, row}};
  const double turns = (10 - 4) + (12 + 3);
  EXPECT_NEAR(static_cast<double>(costs.transfer_cost({rows, 64}).bus) / kDramTicks,
              1024.0 * (55 - turns / 32) / (1 - refresh), 1);
}

/// Half of the channels, then the other half: each has a queue's bursts left when the next transfer
/// is for others.
TEST(DramCosts, DoQueuesReachIntoTheNextTransfer) {
  DramCosts costs(machine(DramPreset::ddr4_2400, 8, DramMap::bank_group_low, 1200));
  const double refresh = (9.0 + 16 + 420 + 16 - 4) / 9360;
  for (const int64_t runs : {40, 160, 336, 400, 1000}) {
    const Levels levels = {{runs, 128}};
    for (const Levels& around : {Levels{{1000, 64 * (2 * runs + 1)}}, Levels{{9, 0}, {2, 64}}}) {
      const double queue = 40, channel = static_cast<double>(runs) / 4;
      const double wanted = 4 * std::max(channel - queue, channel / 2) / (1 - refresh);
      EXPECT_NEAR(cycles(costs, {levels, 64, false, false, around}), wanted, 0.01 * wanted + 1)
          << runs;
    }
    const double same = static_cast<double>(runs) / 4 * 4 / (1 - refresh);
    for (const Levels& around : {Levels{{100, 128 * runs}}, Levels{{100, 0}}, Levels{}})
      EXPECT_NEAR(cycles(costs, {levels, 64, false, false, around}), same, 0.01 * same + 1);
  }
}

/// What is remembered of a transfer serves others whose walk is the same: to the last bit.
TEST(DramCosts, HaveTransfersOfOneKeyTheSameRates) {
  const DramSystem system =
      dram_system(machine(DramPreset::ddr4_2400, 2, DramMap::bank_group_high, 1200));
  std::mt19937 random(5);
  const auto one_of = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  std::map<std::vector<int64_t>, StridedRates> seen;
  int shared = 0;
  for (int i = 0; i < 400; ++i) {
    const Levels levels = {{one_of({2, 3, 40, 90}), 8192}, {one_of({2, 30, 3000, 4000}), 256}};
    Levels around;
    for (auto l = random() % 3; l > 0; --l)
      around.push_back({one_of({2, 3, 500, 5000}), one_of({0, 64, 1 << 20})});
    const DramTransfer t = {levels, one_of({64, 200, 1 << 20}), random() % 2 == 0, false, around};
    const StridedRates mine = strided_rates(system, t);
    const auto [at, fresh] = seen.try_emplace(count_key(system, t), mine);
    const StridedRates& other = at->second;
    shared += fresh ? 0 : 1;
    EXPECT_EQ(std::tie(mine.run_bursts, mine.activates, mine.bus, mine.clocks, mine.refresh),
              std::tie(other.run_bursts, other.activates, other.bus, other.clocks, other.refresh));
  }
  EXPECT_GT(shared, 100);
}

/// Two rows of one bank by turns, a column further each time: a visit has what its row is wanted
/// for while the queue shows it.
TEST(DramCosts, DoVisitsTakeAllThatTheQueueShows) {
  const DramSystem system =
      dram_system(machine(DramPreset::ddr4_2400, 1, DramMap::bank_group_high, 1200));
  const Levels levels = {{2, int64_t{4} * 4 * 8192}}, around = {{100, 0}, {128, 64}};
  for (const bool write : {false, true}) {
    const StridedCounts c = count_strided(system, {levels, 64, write, false, around});
    const double queue = write ? 64 : 40;
    EXPECT_NEAR(c.activates / c.bursts, 2 / queue, 0.1 * 2 / queue);
  }
}

/// Stores or loads of a matrix tile beside a stream of the other direction.
struct Tile {
  int64_t run, pitch, lines;  ///< bytes, bytes, runs of a transfer
  int64_t below;              ///< transfers down the matrix, before the next columns
  bool write;
};

/// The bursts of the tile's transfers, and three of the stream for each one of theirs, or one.
std::vector<test::Burst> with_stream(const Tile& t, int64_t burst, int64_t count,
                                     int64_t streamed) {
  std::vector<test::Burst> out;
  for (int64_t column = 0; std::ssize(out) < count; column += t.run)
    for (int64_t line = 0; line < t.lines * t.below; ++line) {
      const int64_t at = column + line * t.pitch;
      for (int64_t b = at / burst; b <= (at + t.run - 1) / burst; ++b) out.push_back({b, t.write});
    }
  const int64_t tiles = std::ssize(out), elsewhere = int64_t{1} << 24;
  for (int64_t b = 0; b < tiles * streamed; ++b) out.push_back({elsewhere + b, !t.write});
  return out;
}

/// Charged over stepped of a tile's transfers alone, and of them and the stream.
std::pair<double, double> ratios(const HwConfig& hw, const Tile& t, int64_t streamed) {
  const DramSystem system = dram_system(hw);
  DramCosts costs(hw);
  const int64_t size = system.device.burst_bytes(), least = 4096;
  const std::vector<test::Burst> bursts =
      with_stream(t, size, least * system.channels / (streamed + 1), streamed);
  const auto all = static_cast<double>(bursts.size()),
             tiles = all / static_cast<double>(streamed + 1);
  const auto clocks = [&](bool reads, bool writes) {
    return test::stepped_clocks(system, bursts, reads, writes, least) * hw.clock_mhz /
           system.device.clock_mhz;
  };
  const Levels levels = {{t.lines, t.pitch}},
               around = {{1000, t.run}, {t.below, t.lines * t.pitch}};
  const DramTransfer tile = {levels, t.run, t.write, false, around};
  const double columns =
      std::round(tiles / static_cast<double>(t.lines * t.below) /
                 (1 + static_cast<double>(t.run - std::gcd(std::gcd(t.run, t.pitch), size)) /
                          static_cast<double>(size)));
  const double transfers = columns * static_cast<double>(t.below);
  const double stream = cycles(costs, {}, static_cast<int64_t>(all - tiles) * size, !t.write);
  const DramBatch batch = dram_batch(t.write ? tiles / all : 1 - tiles / all);
  const double turns = all / static_cast<double>(system.channels) / (batch.reads + batch.writes) *
                       static_cast<double>(costs.turn_ticks(true) + costs.turn_ticks(false)) /
                       kDramTicks;
  const double alone = transfers * cycles(costs, tile);
  const double bus =
      transfers * static_cast<double>(costs.transfer_cost(tile).bus) / kDramTicks + stream + turns;
  return {alone / clocks(!t.write, t.write), std::max(alone, bus) / clocks(true, true)};
}

/// Runs that open a row each hold the bus in their batches while the stream waits.
TEST(DramCosts, DoTilesAndAStreamTakeWhatTheControllersDo) {
  const HwConfig hbm = machine(DramPreset::hbm2, 32, DramMap::bank_group_low, 1000),
                 ddr = machine(DramPreset::ddr4_2400, 4, DramMap::bank_group_low, 1000);
  struct Case {
    const HwConfig& hw;
    Tile tile;
    int64_t streamed;
    double alone, both;  ///< how far off
  };
  const std::vector<Case> cases = {
      {hbm, {170, 50257, 64, 4, true}, 2, 0.03, 0.03},  // the logits of a GPT-2
      {hbm, {170, 50257, 64, 4, false}, 2, 0.07, 0.06},
      {hbm, {64, 50304, 64, 4, true}, 2, 0.03, 0.06},
      {hbm, {64, 4096, 64, 16, true}, 2, 0.03, 0.03},
      {hbm, {256, 3072, 64, 8, true}, 1, 0.03, 0.04},
      {ddr, {128, 33000, 64, 8, true}, 2, 0.03, 0.06},
      {ddr, {64, 4096, 64, 16, true}, 1, 0.03, 0.09},
      {ddr, {512, 50257, 64, 2, true}, 1, 0.03, 0.03},
  };
  for (const Case& c : cases) {
    const auto [alone, both] = ratios(c.hw, c.tile, c.streamed);
    EXPECT_NEAR(alone, 1, c.alone) << c.tile.run << " of " << c.tile.pitch;
    EXPECT_NEAR(both, 1, c.both) << c.tile.run << " of " << c.tile.pitch;
  }
}

TEST(DramCosts, AreTurnsThoseOfTheDevice) {
  const DramCosts costs(machine(DramPreset::ddr4_2400, 1, DramMap::bank_group_low, 1200));
  EXPECT_EQ(costs.turn_ticks(true), (10 - 4) * kDramTicks);   // tRTW less the burst
  EXPECT_EQ(costs.turn_ticks(false), (12 + 3) * kDramTicks);  // CWL + BL/2 + tWTR_S less the burst
}

TEST(DramCosts, DoesMoreNeverCostLessNorLessThanThePeakAllows) {
  for (const HwConfig& hw : machines()) {
    DramCosts costs(hw);
    const int64_t burst = dram_system(hw).device.burst_bytes();
    for (const bool write : {false, true}) {
      const auto rate = static_cast<double>((write ? hw.dram.write : hw.dram.read).milli) / 1000;
      double before = 0;
      for (int64_t bytes = burst; bytes < (int64_t{1} << 33); bytes += burst * (1 + bytes / 5000)) {
        const double now = cycles(costs, {}, bytes, write);
        ASSERT_GE(now, before) << bytes;
        ASSERT_GE(now, static_cast<double>(bytes) / rate) << bytes;
        before = now;
      }
      for (const int64_t stride : {0, 100, 128, 4096, 100'000})
        ASSERT_GE(cycles(costs, {{77, stride}}, 100, write), 7700 / rate) << stride;
    }
  }
}

TEST(DramCosts, IsNothingFreeAndTheHugeDefined) {
  DramCosts costs(machines().front());
  EXPECT_EQ(costs.transfer_cost({{}, 0, false}), (DramCost{0, 0}));
  EXPECT_GE(costs.transfer_cost({{}, 1, true}).bus, 1);
  EXPECT_GT(costs.transfer_cost({{}, INT64_MAX, true}).bus, int64_t{1} << 50);
  const Levels many = {{INT64_MAX / 2, 4096}};
  EXPECT_GT(costs.transfer_cost({many, 1, true}).bus, int64_t{1} << 50);
}

TEST(DramCostsDeathTest, IsAnIdealMachineRefused) {
  EXPECT_DEATH(DramCosts(HwConfig{}), "only a banked DRAM");
}

}  // namespace
}  // namespace accsim::hw
