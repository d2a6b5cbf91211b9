#include "hw/config/dram_device.h"

namespace accsim::hw {
namespace {

constexpr std::array<std::string_view, kDramModels> kModelNames = {"ideal", "banked"};
constexpr std::array<std::string_view, kDramBuses> kBusNames = {"separate", "shared"};
constexpr std::array<std::string_view, kDramMaps> kMapNames = {"bank_group_low", "bank_group_high"};

/// JESD79-4, speed bin 2400R (16-16-16), x8 parts of 8 Gb and 1 KiB pages, eight to a 64-bit rank;
/// CK = 1200 MHz, 0.8333 ns. In ns where the standard says so: tRAS 32, tRRD_S max(4 CK, 3.3),
/// tRRD_L max(4 CK, 4.9), tFAW max(20 CK, 21), tCCD_L max(5 CK, 5), tRTP max(4 CK, 7.5), tWR 15,
/// tWTR_S max(2 CK, 2.5), tWTR_L max(4 CK, 7.5), tREFI 7800, tRFC1 350 (8 Gb). CWL 12 is the
/// standard's first set for this rate. Read to write is CL + BL/2 + 2 - CWL with a preamble of 1
/// CK.
constexpr DramDevice kDdr4 = {.name = "DDR4-2400",
                              .standard = "JESD79-4",
                              .part = "8 Gb x8, 64-bit channel, 1 rank",
                              .clock_mhz = 1200,
                              .bus_bytes = 8,
                              .burst_clocks = 4,
                              .bank_groups = 4,
                              .banks = 4,
                              .rows = 65536,
                              .row_bytes = 8192,
                              .two_command_buses = false,
                              .t = {.cl = 16,
                                    .cwl = 12,
                                    .rcd = 16,
                                    .rp = 16,
                                    .rp_all = 16,
                                    .ras = 39,
                                    .rc = 55,
                                    .rrd_s = 4,
                                    .rrd_l = 6,
                                    .faw = 26,
                                    .ccd_s = 4,
                                    .ccd_l = 6,
                                    .rtp = 9,
                                    .wr = 18,
                                    .wtr_s = 3,
                                    .wtr_l = 9,
                                    .rtw = 10,
                                    .refi = 9360,
                                    .rfc = 420,
                                    .act_slots = 1,
                                    .cas_slots = 1,
                                    .pre_slots = 1}};

/// JESD209-4, 3200 MT/s, one x16 channel of an 8 Gb die with two (4 Gb, 2 KiB pages, 8 banks, no
/// bank groups); CK = 1600 MHz, 0.625 ns, BL16. RL 28, WL 14 (set A). tRCD 18 ns, tRPpb 18, tRPab
/// 21, tRAS 42, tRRD 10, tFAW 40, tWR 18, tWTR 10, tRTP 7.5, tREFI 3904, tRFCab 180. The standard
/// adds tDQSCK (3.5 ns, 6 CK) to RL and one clock (tDQSS) to tWR and tWTR; both are in the figures
/// below. Read to write is RL + tDQSCK + BL/2 + tWPRE (2) - WL. Activates, reads and writes take
/// four clocks on the command bus, precharges two.
constexpr DramDevice kLpddr4 = {.name = "LPDDR4-3200",
                                .standard = "JESD209-4",
                                .part = "4 Gb x16 channel of an 8 Gb die",
                                .clock_mhz = 1600,
                                .bus_bytes = 2,
                                .burst_clocks = 8,
                                .bank_groups = 1,
                                .banks = 8,
                                .rows = 32768,
                                .row_bytes = 2048,
                                .two_command_buses = false,
                                .t = {.cl = 34,
                                      .cwl = 14,
                                      .rcd = 29,
                                      .rp = 29,
                                      .rp_all = 34,
                                      .ras = 68,
                                      .rc = 97,
                                      .rrd_s = 16,
                                      .rrd_l = 16,
                                      .faw = 64,
                                      .ccd_s = 8,
                                      .ccd_l = 8,
                                      .rtp = 12,
                                      .wr = 30,
                                      .wtr_s = 17,
                                      .wtr_l = 17,
                                      .rtw = 30,
                                      .refi = 6246,
                                      .rfc = 288,
                                      .act_slots = 4,
                                      .cas_slots = 4,
                                      .pre_slots = 2}};

/// JESD235, 2 GT/s, one 128-bit channel in legacy mode with bursts of four; a stack has eight of 4
/// Gb. CK = 1000 MHz, 1 ns. Reads and writes have a command bus of their own; an activate takes
/// two clocks on the other one. tRTP is the value within a bank group. Read to write is RL + BL/2
/// - WL + 0.5, rounded up.
constexpr DramDevice kHbm2 = {.name = "HBM2",
                              .standard = "JESD235",
                              .part = "4 Gb 128-bit channel, legacy mode",
                              .clock_mhz = 1000,
                              .bus_bytes = 16,
                              .burst_clocks = 2,
                              .bank_groups = 4,
                              .banks = 4,
                              .rows = 32768,
                              .row_bytes = 1024,
                              .two_command_buses = true,
                              .t = {.cl = 14,
                                    .cwl = 4,
                                    .rcd = 14,
                                    .rp = 14,
                                    .rp_all = 14,
                                    .ras = 34,
                                    .rc = 48,
                                    .rrd_s = 4,
                                    .rrd_l = 6,
                                    .faw = 30,
                                    .ccd_s = 1,
                                    .ccd_l = 2,
                                    .rtp = 6,
                                    .wr = 16,
                                    .wtr_s = 6,
                                    .wtr_l = 8,
                                    .rtw = 13,
                                    .refi = 3900,
                                    .rfc = 260,
                                    .act_slots = 2,
                                    .cas_slots = 1,
                                    .pre_slots = 1}};

constexpr std::array<const DramDevice*, kDramPresets> kDevices = {&kDdr4, &kLpddr4, &kHbm2};

}  // namespace

std::string_view name(DramModel model) { return kModelNames[static_cast<size_t>(model)]; }
std::string_view name(DramBus bus) { return kBusNames[static_cast<size_t>(bus)]; }
std::string_view name(DramMap map) { return kMapNames[static_cast<size_t>(map)]; }
std::string_view name(DramPreset preset) { return dram_device(preset).name; }
const DramDevice& dram_device(DramPreset preset) { return *kDevices[static_cast<size_t>(preset)]; }

}  // namespace accsim::hw
