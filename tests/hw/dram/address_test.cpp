#include "hw/dram/address.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "dram_fixture.h"

namespace accsim::hw {
namespace {

TEST(DramDevices, DoTheirSizesFitTheirNames) {
  const DramDevice& ddr4 = dram_device(DramPreset::ddr4_2400);
  EXPECT_EQ(ddr4.peak_mb_per_s(), 2400 * 8);
  EXPECT_EQ(ddr4.burst_bytes(), 64);
  EXPECT_EQ(ddr4.bytes(), int64_t{8} << 30);  // eight parts of 8 Gb
  EXPECT_EQ(ddr4.columns(), 1024 / 8);        // 1024 columns, bursts of eight
  const DramDevice& lpddr4 = dram_device(DramPreset::lpddr4_3200);
  EXPECT_EQ(lpddr4.peak_mb_per_s(), 3200 * 2);
  EXPECT_EQ(lpddr4.burst_bytes(), 32);
  EXPECT_EQ(lpddr4.bytes(), int64_t{512} << 20);  // 4 Gb
  EXPECT_EQ(lpddr4.columns(), 1024 / 16);
  const DramDevice& hbm2 = dram_device(DramPreset::hbm2);
  EXPECT_EQ(hbm2.peak_mb_per_s(), 2000 * 16);
  EXPECT_EQ(hbm2.burst_bytes(), 64);
  EXPECT_EQ(hbm2.bytes(), int64_t{512} << 20);
  EXPECT_EQ(hbm2.columns(), 64 / 4);
}

/// The standards give these in nanoseconds; clocks are those times in CK, rounded up.
TEST(DramDevices, DoTheClocksFollowFromTheStandardsNanoseconds) {
  const auto clocks = [](const DramDevice& d, double ns, int64_t at_least = 0) {
    const auto exact = ns * d.clock_mhz / 1000;
    return std::max(at_least, static_cast<int64_t>(std::ceil(exact - 1e-9)));
  };
  const DramDevice& d = dram_device(DramPreset::ddr4_2400);
  EXPECT_EQ(d.t.ras, clocks(d, 32));
  EXPECT_EQ(d.t.rrd_s, clocks(d, 3.3, 4));
  EXPECT_EQ(d.t.rrd_l, clocks(d, 4.9, 4));
  EXPECT_EQ(d.t.faw, clocks(d, 21, 20));
  EXPECT_EQ(d.t.ccd_l, clocks(d, 5, 5));
  EXPECT_EQ(d.t.rtp, clocks(d, 7.5, 4));
  EXPECT_EQ(d.t.wr, clocks(d, 15));
  EXPECT_EQ(d.t.wtr_s, clocks(d, 2.5, 2));
  EXPECT_EQ(d.t.wtr_l, clocks(d, 7.5, 4));
  EXPECT_EQ(d.t.refi, clocks(d, 7800));
  EXPECT_EQ(d.t.rfc, clocks(d, 350));
  EXPECT_EQ(d.t.rtw, d.t.cl + d.burst_clocks + 2 - d.t.cwl);
  const DramDevice& l = dram_device(DramPreset::lpddr4_3200);
  EXPECT_EQ(l.t.rcd, clocks(l, 18, 4));
  EXPECT_EQ(l.t.rp, clocks(l, 18, 4));
  EXPECT_EQ(l.t.rp_all, clocks(l, 21, 4));
  EXPECT_EQ(l.t.ras, clocks(l, 42, 3));
  EXPECT_EQ(l.t.rrd_s, clocks(l, 10, 4));
  EXPECT_EQ(l.t.faw, clocks(l, 40));
  EXPECT_EQ(l.t.wr, clocks(l, 18, 6) + 1);
  EXPECT_EQ(l.t.wtr_s, clocks(l, 10, 8) + 1);
  EXPECT_EQ(l.t.rtp, clocks(l, 7.5, 8));
  EXPECT_EQ(l.t.rfc, clocks(l, 180));
  EXPECT_EQ(l.t.refi, static_cast<int64_t>(3904 * 1.6));  // an interval: rounded down
  EXPECT_EQ(l.t.cl, 28 + clocks(l, 3.5));
  const DramDevice& h = dram_device(DramPreset::hbm2);
  EXPECT_EQ(h.t.rtw, static_cast<int64_t>(std::ceil(14 + 2 - 4 + 0.5)));
  EXPECT_EQ(h.t.refi, 3900);
  EXPECT_EQ(h.t.rfc, 260);
  for (const DramPreset preset : test::all_presets()) {
    const DramDevice& any = dram_device(preset);
    EXPECT_EQ(any.t.rc, any.t.ras + any.t.rp) << any.name;
    EXPECT_GE(any.t.faw, 4 * any.t.rrd_s - 4) << any.name;
  }
}

TEST(AddressMap, IsEveryBurstOfASmallDeviceAtAPlaceOfItsOwn) {
  for (const DramMap order : {DramMap::bank_group_low, DramMap::bank_group_high}) {
    for (const int64_t channels : {1, 2, 3}) {
      const AddressMap map(test::free_device(), channels, address_order(order));
      ASSERT_EQ(map.total_bursts(), channels * 4 * 16 * 8);  // banks, rows, columns
      std::set<std::tuple<int, int, int64_t, int>> seen;
      for (int64_t i = 0; i < map.total_bursts(); ++i) {
        const DramPlace p = map.place_of_burst(i);
        EXPECT_EQ(p.group, p.bank / 2);
        EXPECT_TRUE(seen.insert({p.channel, p.bank, p.row, p.column}).second) << i;
        EXPECT_EQ(map.place_of_burst(i + map.total_bursts()), p);
      }
    }
  }
}

TEST(AddressMap, IsWhereTheBankGroupsLieAsNamed) {
  const DramDevice& d = dram_device(DramPreset::ddr4_2400);
  const AddressMap low(d, 2, address_order(DramMap::bank_group_low));
  const AddressMap high(d, 2, address_order(DramMap::bank_group_high));
  for (int64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(low.place_of_burst(i).channel, i % 2);
    EXPECT_EQ(low.place_of_burst(i).group, i / 2);
    EXPECT_EQ(low.place_of_burst(i).column, 0);
    EXPECT_EQ(high.place_of_burst(i).channel, i % 2);
    EXPECT_EQ(high.place_of_burst(i).group, 0);
    EXPECT_EQ(high.place_of_burst(i).column, i / 2);
  }
  EXPECT_EQ(high.place_of_burst(2 * 128).group, 1);    // a row of each channel later
  EXPECT_EQ(low.place_of_burst(2 * 4 * 128).bank, 1);  // a row of every group later
  EXPECT_EQ(low.place_of_burst(2 * 16 * 128).row, 1);
  EXPECT_EQ(high.place_of_burst(2 * 16 * 128).row, 1);
}

TEST(AddressMapDeathTest, IsAnOrderThatNamesAFieldTwiceCaught) {
  using enum AddressField;
  EXPECT_DEATH(AddressMap(test::free_device(), 1, {channel, bank, bank, column, row}),
               "each field");
}

}  // namespace
}  // namespace accsim::hw
