#include "hw/config/hw_config.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace accsim::hw {
namespace {

constexpr std::array<std::string_view, kDataflows> kDataflowNames = {
    "weight_stationary", "input_stationary", "output_stationary"};
constexpr std::array<std::string_view, kArrayForms> kFormNames = {"systolic", "dot_product"};
constexpr std::array<std::string_view, kVectorForms> kVectorFormNames = {"lanes", "units"};
constexpr std::array<std::string_view, kBuffers> kBufferNames = {
    "activation", "weight", "parameter", "accumulator", "output"};
constexpr PerMemory<std::string_view> kMemoryNames = {"dram", "shared"};
constexpr std::array<std::string_view, kRunWeights> kRunWeightNames = {"read", "kept"};

}  // namespace

std::string_view name(Dataflow d) { return kDataflowNames[static_cast<size_t>(d)]; }
std::string_view name(ArrayForm form) { return kFormNames[static_cast<size_t>(form)]; }
std::string_view name(VectorForm form) { return kVectorFormNames[static_cast<size_t>(form)]; }
std::string_view name(Buffer b) { return kBufferNames[static_cast<size_t>(b)]; }
std::string_view name(MemoryId m) { return kMemoryNames[m]; }
std::string_view name(RunWeights weights) { return kRunWeightNames[static_cast<size_t>(weights)]; }

DotProductEngine engine_of(const HwConfig& hw) {
  DotProductEngine out = hw.array.engine;
  out.atom_channels = hw.array.rows;
  out.atom_kernels = hw.array.cols;
  out.element_bytes = hw.activation_bytes();
  out.request_interval = std::max<int64_t>(1, hw.dram.read.cycles(out.entry_bytes));
  out.read_latency = std::max(hw.dram.latency, out.request_interval);
  return out;
}

SideUnits side_units_of(const HwConfig& hw) {
  // By kLaneClassNames.
  constexpr size_t kElementwise = 0, kSpecial = 1, kPool = 3;
  static_assert(kLaneClassNames[kElementwise] == "elementwise" &&
                kLaneClassNames[kSpecial] == "special" && kLaneClassNames[kPool] == "pool");
  SideUnits out = hw.vector.units;
  out.atom_elements = hw.array.cols;
  const int64_t bytes = out.atom_elements * hw.activation_bytes();
  out.request_interval =
      std::max({int64_t{1}, hw.dram.read.cycles(bytes), hw.dram.write.cycles(bytes)});
  out.read_latency = std::max(hw.dram.latency, out.request_interval);
  out.pool_rate = hw.vector.lanes[kPool];
  out.lrn_rate = hw.vector.lanes[kSpecial];
  out.point_rate = hw.vector.lanes[kElementwise];
  return out;
}

ChannelConfig BankedDram::peak_channel(double clock_mhz) const {
  const DramDevice& device = dram_device(preset);
  const double bytes = device.peak_mb_per_s() * static_cast<double>(channels) / clock_mhz;
  const ByteRate rate{std::max<int64_t>(1, static_cast<int64_t>(std::ceil(bytes * 1000)))};
  const DramTimings& t = device.t;
  const auto clocks = static_cast<double>(t.rp + t.rcd + t.cl + device.burst_clocks);
  return {rate, rate, static_cast<int64_t>(std::ceil(clocks * clock_mhz / device.clock_mhz))};
}

}  // namespace accsim::hw
