#include "hw/dram/strided.h"

#include <algorithm>
#include <vector>

#include "hw/dram/address.h"
#include "hw/dram/row_visits.h"

namespace accsim::hw {
namespace {

constexpr int64_t kCounted = 4096;  ///< bursts

/// A bank of a channel: its open row and what it was asked for.
struct BankUse {
  int64_t row = -1, columns = 0, activates = 0;
};

class Counter {
 public:
  Counter(const DramSystem& system, const DramTransfer& transfer)
      : system_(system),
        transfer_(transfer),
        map_(system.device, system.channels, address_order(system.map)),
        banks_(static_cast<size_t>(system.channels * system.device.all_banks())) {}

  /// Walks the transfer again and again, or its beginning.
  void walk() {
    const DramTransfer::Level& outermost = transfer_.levels.front();
    const int64_t beside = long_runs() ? std::max<int64_t>(1, least_stride() / transfer_.run) : 1;
    for (int64_t pass = 0; bursts_ < kCounted; ++pass)
      level(0, pass % beside * transfer_.run + pass / beside * outermost.count * outermost.stride);
  }
  StridedCounts counts() const;

 private:
  bool long_runs() const {
    return transfer_.run >= system_.channels * system_.device.burst_bytes();
  }
  int64_t least_stride() const {
    int64_t out = INT64_MAX;
    for (const DramTransfer::Level& l : transfer_.levels) out = std::min(out, l.stride);
    return out;
  }
  void level(size_t l, int64_t at) {
    if (l == transfer_.levels.size()) return run(at);
    for (int64_t i = 0; i < transfer_.levels[l].count; ++i) {
      level(l + 1, at + i * transfer_.levels[l].stride);
      if (bursts_ >= 2 * kCounted) return;
    }
  }
  void run(int64_t at) {
    const int64_t size = system_.device.burst_bytes();
    const int64_t last = std::min((at + transfer_.run - 1) / size, at / size + 2 * kCounted);
    for (int64_t b = at / size; b <= last; ++b) {
      const DramPlace place = map_.place(b);
      BankUse& bank =
          banks_[static_cast<size_t>(place.channel * system_.device.all_banks() + place.bank)];
      bank.activates += bank.row != place.row;
      bank.row = place.row;
      ++bank.columns;
      ++bursts_;
    }
    ++runs_;
  }
  double channel_clocks(std::span<const BankUse> banks, double recovery) const;

  const DramSystem& system_;
  const DramTransfer& transfer_;
  AddressMap map_;
  std::vector<BankUse> banks_;
  int64_t bursts_ = 0, runs_ = 0;
};

double Counter::channel_clocks(std::span<const BankUse> banks, double recovery) const {
  const DramTimings& t = system_.device.t;
  const double burst = real(std::max(system_.device.burst_clocks, t.ccd_s));
  const double column = real(std::max(system_.device.burst_clocks, t.ccd_l));
  double columns = 0, activates = 0, most = 0;
  for (int64_t g = 0; g < system_.device.bank_groups; ++g) {
    double group = 0;
    for (int64_t b = 0; b < system_.device.banks; ++b) {
      const BankUse& use = banks[static_cast<size_t>(g * system_.device.banks + b)];
      group += real(use.columns);
      activates += real(use.activates);
      if (use.activates == 0) continue;
      const double visit = real(use.columns) / real(use.activates);
      const double held = real(t.rcd) + (visit - 1) * column + recovery + real(t.rp);
      // A row that stays open takes no more than its columns.
      if (use.activates > 1)
        most = std::max(most, real(use.activates) * std::max(real(t.rc), held));
    }
    columns += group;
    most = std::max(most, group * column);
  }
  return std::max({most, columns * burst, activates * std::max(real(t.rrd_s), real(t.faw) / 4)});
}

StridedCounts Counter::counts() const {
  const DramDevice& d = system_.device;
  const double burst = real(std::max(d.burst_clocks, d.t.ccd_s));
  const double recovery = transfer_.write ? real(d.t.cwl + d.burst_clocks + d.t.wr) : real(d.t.rtp);
  const double refresh = recovery + real(d.t.rp_all + d.t.rfc + d.t.rcd) - burst;
  double runs = 1, busiest = 0, all = 0, activates = 0;
  for (const DramTransfer::Level& l : transfer_.levels) runs *= real(l.count);
  for (int64_t c = 0; c < system_.channels; ++c) {
    const std::span<const BankUse> banks(&banks_[static_cast<size_t>(c * d.all_banks())],
                                         static_cast<size_t>(d.all_banks()));
    const double clocks = channel_clocks(banks, recovery);
    busiest = std::max(busiest, clocks);
    all += clocks;
    for (const BankUse& b : banks) activates += real(b.activates);
  }
  if (long_runs()) busiest = all / real(system_.channels);
  const double share = runs / real(runs_);  // of what was counted
  return {real(bursts_) * share, activates * share,
          busiest * share / (1 - refresh / real(d.t.refi))};
}

}  // namespace

StridedCounts count_strided(const DramSystem& system, const DramTransfer& transfer) {
  Counter counter(system, transfer);
  counter.walk();
  return counter.counts();
}

}  // namespace accsim::hw
