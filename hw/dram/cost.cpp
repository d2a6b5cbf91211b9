#include "hw/dram/cost.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "hw/dram/closed_form.h"

namespace accsim::hw {

DramSystem dram_system(const HwConfig& hw) {
  check(hw.dram_model == DramModel::banked, "only a banked DRAM has banks");
  return {dram_device(hw.banked.preset), hw.banked.channels, hw.banked.map};
}

DramCosts::DramCosts(const HwConfig& hw) : latency_(hw.dram.latency) {
  const DramSystem system = dram_system(hw);
  burst_bytes_ = system.device.burst_bytes();
  const double cycles_per_clock = hw.clock_mhz / system.device.clock_mhz;
  for (const bool write : {false, true}) {
    const double share = write ? 1 - hw.banked.read_share : hw.banked.read_share;
    double least = 0;
    for (size_t i = 0; i < kLengths; ++i) {
      const int64_t bursts = int64_t{1} << i;
      const auto one =
          estimate_dram(system, {DramWalk::random, bursts * burst_bytes_, 0, write ? 1.0 : 0.0});
      const double clocks =
          static_cast<double>(bursts) * one.clocks_per_burst / static_cast<double>(system.channels);
      least = std::max(least, clocks * cycles_per_clock / share);
      cycles_[write][i] = least;
    }
  }
}

double DramCosts::run_cycles(int64_t bursts, bool write) const {
  const auto& cycles = cycles_[write];
  const auto below = static_cast<size_t>(std::bit_width(static_cast<uint64_t>(bursts))) - 1;
  const auto length = static_cast<double>(bursts);
  if (below + 1 >= kLengths)  // as fast as the longest
    return length * (cycles.back() / static_cast<double>(int64_t{1} << (kLengths - 1)));
  const double whole = static_cast<double>(int64_t{1} << below);
  return cycles[below] + (cycles[below + 1] - cycles[below]) * (length / whole - 1);
}

DramCost DramCosts::transfer(int64_t bytes, int64_t run_bytes, bool write) const {
  check(bytes >= 0, "a transfer of less than nothing");
  if (bytes == 0) return {};
  const int64_t run = run_bytes < 1 ? bytes : std::min(run_bytes, bytes);
  const int64_t runs = bytes / run, rest = bytes % run;
  const int64_t whole = ceil_div(run, burst_bytes_), part = ceil_div(rest, burst_bytes_);
  // A shorter last run takes its share of a whole one, so that more bytes never take less time.
  const double each = run_cycles(whole, write);
  const double cycles =
      each * (static_cast<double>(runs) + static_cast<double>(part) / static_cast<double>(whole));
  constexpr double kMost = 4e18;  // beyond any sum of tensors; keeps the conversion defined
  return {static_cast<int64_t>(std::ceil(std::min(cycles, kMost))), latency_};
}

}  // namespace accsim::hw
