#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace accsim::hw {

/// How main memory is modelled. `ideal`: two in-order pipelined channels, one a direction; what RTL
/// and timing model agree on to the cycle while they are separate (DramBus). `banked`: a DRAM of
/// real parts (hw/dram).
enum class DramModel : uint8_t { ideal, banked };
inline constexpr size_t kDramModels = 2;
/// As machine files spell it: "ideal", "banked".
std::string_view name(DramModel model);

/// What carries the transfers of an ideal DRAM. `separate`: each direction a channel of its own.
/// `shared`: one bus serves both as they come, each at its direction's rate, and is never idle
/// while one waits (hw/timing/bus.h); timed, and not verified.
enum class DramBus : uint8_t { separate, shared };
inline constexpr size_t kDramBuses = 2;
/// As machine files spell it: "separate", "shared".
std::string_view name(DramBus bus);

/// The kinds of DRAM of which dram_device() knows the parts.
enum class DramPreset : uint8_t { ddr4_2400, lpddr4_3200, hbm2 };
inline constexpr size_t kDramPresets = 3;
/// As machine files spell it: "ddr4_2400", "lpddr4_3200", "hbm2".
std::string_view name(DramPreset preset);

/// Where a byte address finds its bank. Fields go from the least significant bit up, above the
/// bytes of one burst. `bank_group_low`: channel, bank group, column, bank, row; neighbouring
/// bursts alternate between bank groups. `bank_group_high`: channel, column, bank group, bank, row;
/// a whole row of one bank group comes before the next group.
enum class DramMap : uint8_t { bank_group_low, bank_group_high };
inline constexpr size_t kDramMaps = 2;
/// As machine files spell it: "bank_group_low", "bank_group_high".
std::string_view name(DramMap map);

/// JEDEC timing parameters in clocks (CK) of the DRAM. A command happens in its last clock on the
/// command bus, and all of these count from there. `_s`: to another bank group, `_l`: within one;
/// devices without bank groups have both alike.
struct DramTimings {
  int64_t cl = 0;              ///< read command to first data
  int64_t cwl = 0;             ///< write command to first data
  int64_t rcd = 0;             ///< activate to read or write
  int64_t rp = 0, rp_all = 0;  ///< precharge (one bank, all banks) to activate or refresh
  int64_t ras = 0, rc = 0;     ///< activate to precharge, to activate, of one bank
  int64_t rrd_s = 0, rrd_l = 0;
  int64_t faw = 0;                                      ///< at most four activates in this time
  int64_t ccd_s = 0, ccd_l = 0;                         ///< read to read, write to write
  int64_t rtp = 0;                                      ///< read to precharge
  int64_t wr = 0;                                       ///< end of write data to precharge
  int64_t wtr_s = 0, wtr_l = 0;                         ///< end of write data to read command
  int64_t rtw = 0;                                      ///< read command to write command
  int64_t refi = 0, rfc = 0;                            ///< between refreshes; refresh to activate
  int64_t act_slots = 1, cas_slots = 1, pre_slots = 1;  ///< clocks on the command bus
};

/// One channel of a kind of DRAM.
struct DramDevice {
  std::string_view name, standard, part;
  double clock_mhz = 0;                ///< of CK; data move on both edges
  int64_t bus_bytes = 0;               ///< width of the data bus
  int64_t burst_clocks = 0;            ///< burst length / 2
  int64_t bank_groups = 0, banks = 0;  ///< groups; banks in each
  int64_t rows = 0;
  int64_t row_bytes = 0;           ///< of one bank, over all devices of the channel
  bool two_command_buses = false;  ///< activates and precharges don't compete with reads and writes
  DramTimings t;

  int64_t burst_bytes() const { return bus_bytes * 2 * burst_clocks; }
  int64_t columns() const { return row_bytes / burst_bytes(); }  ///< bursts a row
  int64_t all_banks() const { return bank_groups * banks; }
  int64_t bytes() const { return all_banks() * rows * row_bytes; }
  /// Peak rate of one channel, bytes a second / 10^6.
  double peak_mb_per_s() const { return static_cast<double>(bus_bytes) * 2 * clock_mhz; }
};

/// The parts of the preset, with the JEDEC clauses that the numbers come from in the .cpp.
const DramDevice& dram_device(DramPreset preset);

}  // namespace accsim::hw
