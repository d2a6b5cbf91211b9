#include "hw/dram/cost.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "hw/dram/closed_form.h"
#include "hw/dram/row_visits.h"
#include "hw/dram/strided.h"
#include "sim/base/hash.h"
#include "sim/base/inline_vector.h"

namespace accsim::hw {
namespace {

constexpr double kMost = 1e17;  ///< beyond any sum of tensors; keeps conversions defined

/// A transfer with its levels copied: without those of one run, and with runs that follow one
/// another put together; of the loops around it those that count_strided() goes through.
struct Merged {
  Merged(const DramSystem& system, const DramTransfer& t) : transfer(t) {
    for (const DramTransfer::Level& l : t.levels)
      if (l.count != 1) levels.push_back({l.count, std::abs(l.stride)});
    while (!t.scattered && !levels.empty() && levels.back().stride == transfer.run) {
      if (levels.back().count > INT64_MAX / std::max<int64_t>(1, transfer.run)) break;
      transfer.run *= levels.back().count;
      levels.pop_back();
    }
    transfer.levels = levels;
    const double most = 4 * real(counted_bursts(system, t.write));
    double bursts = 1;
    for (const DramTransfer::Level& l : levels) bursts *= real(l.count);
    for (size_t i = t.around.size(); i-- > 0 && bursts < most;) {
      if (t.around[i].count == 1) continue;
      around.push_back({t.around[i].count, std::abs(t.around[i].stride)});
      bursts *= real(t.around[i].count);
    }
    std::ranges::reverse(around);
    transfer.around = around;
  }
  InlineVector<DramTransfer::Level, 8> levels;
  InlineVector<DramTransfer::Level, 64> around;
  DramTransfer transfer;
};

/// What all runs of a transfer begin at multiples of, if the first does.
int64_t run_alignment(const DramTransfer& t, int64_t burst) {
  int64_t out = std::gcd(t.run, burst);
  for (const DramTransfer::Level& l : t.levels) out = std::gcd(out, l.stride);
  return out;
}

}  // namespace

DramSystem dram_system(const HwConfig& hw) {
  check(hw.dram_model == DramModel::banked, "only a banked DRAM has banks");
  return {dram_device(hw.banked.preset), hw.banked.channels, hw.banked.map};
}

DramCosts::DramCosts(const HwConfig& hw)
    : system_(dram_system(hw)),
      peak_(hw.dram.read),
      cycles_per_clock_(hw.clock_mhz / system_.device.clock_mhz),
      latency_(hw.dram.latency) {
  const DramTimings& t = system_.device.t;
  const double burst = real(std::max(system_.device.burst_clocks, t.ccd_s));
  const std::array<double, 2> turns = {real(t.cwl + system_.device.burst_clocks + t.wtr_s) - burst,
                                       real(t.rtw) - burst};
  for (const bool write : {false, true}) {
    turns_[write] = std::lround(turns[write] * cycles_per_clock_ * real(kDramTicks));
    const double share = write ? 1 : 0, channels = real(system_.channels);
    stream_[write] =
        estimate_dram(system_, {DramWalk::sequential, 0, 0, share}).clocks_per_burst / channels;
    double least = 0;
    for (size_t i = 0; i < kLengths; ++i) {
      const int64_t bursts = int64_t{1} << i;
      const int64_t bytes = bursts * system_.device.burst_bytes();
      const auto one = estimate_dram(system_, {DramWalk::random, bytes, 0, share});
      least = std::max(least, real(bursts) * one.clocks_per_burst / channels);
      random_[write][i] = least;
    }
  }
}

double DramCosts::scattered_clocks(const DramTransfer& t, double runs) const {
  const auto& clocks = random_[t.write];
  const int64_t bursts = ceil_div(t.run, system_.device.burst_bytes());
  const auto below = static_cast<size_t>(std::bit_width(static_cast<uint64_t>(bursts))) - 1;
  if (below + 1 >= kLengths)  // as fast as the longest
    return runs * real(bursts) * (clocks.back() / real(int64_t{1} << (kLengths - 1)));
  const double whole = real(int64_t{1} << below);
  return runs * (clocks[below] + (clocks[below + 1] - clocks[below]) * (real(bursts) / whole - 1));
}

StridedCounts DramCosts::strided_counts(const DramTransfer& t) {
  const auto [at, fresh] = strided_.try_emplace(count_key(system_, t));
  if (fresh) {
    at->second = strided_rates(system_, t);
    const std::vector<int64_t>& key = at->first;
    walks_.push_back(
        {hash_bytes({reinterpret_cast<const char*>(key.data()), key.size() * sizeof(int64_t)}),
         at->second.counted});
  }
  return scaled_counts(at->second, t);
}

DramCost DramCosts::transfer_cost(const DramTransfer& transfer) {
  const Merged merged(system_, transfer);
  const DramTransfer& t = merged.transfer;
  double runs = 1;
  check(t.run >= 0, "a transfer of less than nothing");
  for (const DramTransfer::Level& l : t.levels) {
    check(l.count >= 0, "a transfer of less than nothing");
    runs *= real(l.count);
  }
  if (t.run == 0 || runs == 0) return {};
  const int64_t burst = system_.device.burst_bytes();
  const double bytes = runs * real(t.run);
  double clocks = 0, bus = 0;
  if (t.scattered) {
    bus = clocks = scattered_clocks(t, runs);
  } else if (!t.levels.empty()) {
    const StridedCounts counts = strided_counts(t);
    bus = counts.bus;
    clocks = counts.clocks;
  } else {
    bus = clocks = stream_[t.write] * (1 + real(t.run - run_alignment(t, burst)) / real(burst));
  }
  const double least = std::ceil(bytes * 1000 * real(kDramTicks) / real(peak_.milli));
  const double ticks = std::round(bus * cycles_per_clock_ * real(kDramTicks));
  const double alone = clocks > bus ? std::round(clocks * cycles_per_clock_) : 0;
  return {static_cast<int64_t>(std::min(std::max(least, ticks), kMost)), latency_,
          static_cast<int64_t>(std::min(alone, kMost / real(kDramTicks)))};
}

}  // namespace accsim::hw
