#pragma once
#include <vector>

#include "hw/config/dram_device.h"
#include "hw/dram/channel.h"

namespace accsim::test {

using namespace hw;

inline std::vector<DramPreset> all_presets() {
  return {DramPreset::ddr4_2400, DramPreset::lpddr4_3200, DramPreset::hbm2};
}

/// Two groups of two banks, bursts of two clocks, and no timing that binds: every gate is 1 or
/// less, so that a test can raise one alone.
inline DramDevice free_device() {
  DramDevice d = dram_device(DramPreset::ddr4_2400);
  d.bank_groups = 2;
  d.banks = 2;
  d.rows = 16;
  d.bus_bytes = 8;
  d.burst_clocks = 2;
  d.row_bytes = 8 * d.burst_bytes();
  d.t = {.cl = 1,
         .cwl = 1,
         .rcd = 1,
         .rp = 1,
         .rp_all = 1,
         .ras = 1,
         .rc = 1,
         .rrd_s = 1,
         .rrd_l = 1,
         .faw = 1,
         .ccd_s = 1,
         .ccd_l = 1,
         .rtp = 1,
         .wr = 0,
         .wtr_s = 0,
         .wtr_l = 0,
         .rtw = 1,
         .refi = 1'000'000,
         .rfc = 1,
         .act_slots = 1,
         .cas_slots = 1,
         .pre_slots = 1};
  return d;
}

}  // namespace accsim::test
