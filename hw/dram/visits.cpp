#include "hw/dram/visits.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "hw/dram/address.h"
#include "hw/dram/controller.h"
#include "sim/base/units.h"

namespace accsim {
namespace {

constexpr double kEndless = 1e6;  ///< bursts: long enough to be without end
/// A request is served a queue earlier than its turn at most, and lets a queue pass at most.
constexpr auto kStretch = static_cast<int64_t>(2 * kDramReadQueue);

double real(int64_t value) { return static_cast<double>(value); }

double harmonic(int64_t n) {
  double sum = 0;
  for (int64_t i = 1; i <= n; ++i) sum += 1 / real(i);
  return sum;
}

/// Rows that a run of `bursts` visits with the groups below the columns: every group that it
/// touches once, and once more for each row boundary inside, which splits the run in two parts.
/// The sum is over the places x = 1.. of that boundary: min(x, G) + min(bursts - x, G) -
/// min(bursts, G).
double visits_groups_low(double bursts, double groups, double columns) {
  const double touched = std::min(bursts, groups);
  if (bursts <= 1) return touched;
  const double inside = bursts - 1, ramp = std::min(inside, groups - 1);
  const double sum = ramp * (ramp + 1) + 2 * groups * (inside - ramp);
  return touched + std::max(0.0, sum - inside * touched) / (groups * columns);
}

/// How even single runs load the channels, 1 for single bursts, 0 when they cover all alike.
double unevenness(int64_t bursts, int64_t channels) {
  if (channels == 1) return 0;
  const double part = real(bursts % channels) / real(channels);
  const double spread = part * (1 - part) * real(channels) / real(bursts);
  return spread / (1 - 1 / real(channels));
}

void fill(DramVisits& out, const DramDevice& device, bool groups_high) {
  const double columns = real(device.columns());
  const double groups = real(device.bank_groups), banks = real(device.all_banks());
  double visits = 0;
  out.groups_high = groups_high;
  if (groups_high) {
    visits = 1 + (out.bursts - 1) / columns;
    out.places = banks;
  } else {
    visits = visits_groups_low(out.bursts, groups, columns);
    out.groups_used = std::min(out.bursts, groups);
    out.places = real(device.banks) * groups / out.groups_used;
  }
  const double ends = (out.bursts - 1) / (groups_high ? columns : columns * groups);
  out.part = out.bursts / (1 + ends);
  out.split = std::min(1.0, ends);
  out.unsplit = groups_high ? 1 : out.groups_used;
  out.activates = visits / out.bursts;
  out.bursts_a_visit = out.bursts / visits;
  out.unit = std::min(groups_high ? out.bursts_a_visit : out.bursts, real(kDramWriteQueue));
}

/// What the banks of a channel were asked for lately.
class BankLoad {
 public:
  explicit BankLoad(const DramDevice& device)
      : d_(device), banks_(static_cast<size_t>(device.all_banks())) {}

  void add(const DramPlace& place) {
    Bank& b = banks_[static_cast<size_t>(place.bank)];
    const bool other_row = b.row != place.row;
    // A row that the bank hasn't used for longer is closed and opened while others are served.
    const bool waits = other_row && b.row >= 0 && all_ - b.last <= kStretch;
    ++b.bursts;
    b.conflicts += waits;
    opened_ += other_row;
    b.row = place.row;
    b.last = all_++;
  }

  /// The clocks that the busiest bank or bank group needs for what came since the last call.
  double take() {
    const double spacing = real(std::max(d_.t.ccd_l, d_.burst_clocks));
    const double turn = real(d_.t.rcd + d_.t.rtp + d_.t.rp);
    double longest = 0, group = 0;
    for (size_t i = 0; i < banks_.size(); ++i) {
      if (i % static_cast<size_t>(d_.banks) == 0) group = 0;
      Bank& b = banks_[i];
      group += real(b.bursts) * spacing;
      const double hits = real(b.bursts - b.conflicts) * spacing;
      longest = std::max({longest, group, hits + real(b.conflicts) * turn,
                          real(b.conflicts * d_.t.rc)});
      b.bursts = b.conflicts = 0;
    }
    return longest;
  }

  int64_t all() const { return all_; }
  int64_t opened() const { return opened_; }

 private:
  struct Bank {
    int64_t row = -1, last = 0, bursts = 0, conflicts = 0;
  };
  const DramDevice& d_;
  std::vector<Bank> banks_;
  int64_t opened_ = 0, all_ = 0;
};

/// Strided runs: their places repeat, so that banks, groups and channels may be loaded unevenly.
/// Walks the first 64 runs (of each 4096 bursts at most; more when they are short) and sums, over
/// stretches of two queues, what the busiest channel needs.
void count_strided(DramVisits& out, const DramSystem& system, const DramPattern& pattern) {
  constexpr int64_t kRuns = 64, kLongest = 4096, kLeast = 4096;
  const DramDevice& d = system.device;
  const AddressMap map(d, system.channels, address_order(system.map));
  const int64_t run = std::max<int64_t>(1, ceil_div(pattern.run, d.burst_bytes()));
  const int64_t walked = std::min(run, kLongest);
  DramStream stream(system, {DramWalk::strided, walked * d.burst_bytes(), pattern.stride, 0}, 0);
  std::vector<BankLoad> load(static_cast<size_t>(system.channels), BankLoad(d));
  std::vector<double> clocks(load.size());
  const auto close = [&](size_t c) { clocks[c] += load[c].take(); };
  const int64_t bursts = std::max(walked * kRuns, kLeast / walked * walked);
  for (int64_t i = 0; i < bursts; ++i) {
    const DramPlace place = map.place(stream.next().burst);
    const auto c = static_cast<size_t>(place.channel);
    load[c].add(place);
    if (load[c].all() % kStretch == 0) close(c);
  }
  size_t busiest = 0;
  for (size_t c = 0; c < load.size(); ++c) {
    close(c);
    if (load[c].all() > load[busiest].all()) busiest = c;
  }
  const double all = real(load[busiest].all()), opened = real(load[busiest].opened());
  out.random_places = false;
  out.balance = real(bursts) / real(system.channels) / all;
  out.least_clocks = clocks[busiest] / all;
  out.activates = opened / all;
  out.bursts_a_visit = all / std::max(1.0, opened);
}

}  // namespace

DramVisits count_visits(const DramSystem& system, const DramPattern& pattern) {
  DramVisits out;
  const int64_t burst_bytes = system.device.burst_bytes();
  const int64_t run = std::max<int64_t>(1, ceil_div(pattern.run, burst_bytes));
  out.endless = pattern.walk == DramWalk::sequential ||
                (pattern.walk == DramWalk::strided && pattern.stride == run * burst_bytes);
  out.bursts = out.endless ? kEndless : std::max(1.0, real(run) / real(system.channels));
  fill(out, system.device, system.map == DramMap::bank_group_high);
  if (out.endless) return out;
  if (pattern.walk == DramWalk::strided) {
    count_strided(out, system, pattern);
  } else {
    const double share = std::clamp(pattern.write_share, 0.0, 1.0);
    const double queue = (1 - share) * real(kDramReadQueue) + share * real(kDramWriteQueue);
    const double missed = (harmonic(system.channels) - 1) / queue;
    out.balance = std::max(0.1, 1 - missed * unevenness(run, system.channels));
  }
  return out;
}

double single_group_share(const DramDevice& device, const DramVisits& visits, double ahead) {
  constexpr int kRuns = 256;
  const auto columns = static_cast<uint32_t>(device.columns());
  const double row = real(device.columns());
  const double skipped = std::max(0.0, std::floor(visits.bursts / row) - 4) * row;
  uint32_t random = 1;
  double left = 0, alone = 0, all = 0;  // left: of the oldest visit, when it becomes the oldest
  for (int i = 0; i < kRuns; ++i) {
    random = random * 1103515245U + 12345U;
    double column = ((random >> 8U) % columns);
    bool joined = ((random >> 20U) % static_cast<uint32_t>(device.bank_groups)) == 0;
    double rest = visits.bursts - skipped;
    int rows = 0;
    while (rest > 0) {
      const double visit = std::min(rest, row - column);
      rest -= visit;
      column = 0;
      if (joined) {
        left += visit;
      } else {
        alone += std::max(0.0, left - ahead);
        left = visit - std::min({visit, left, ahead});
      }
      joined = false;
      all += visit;
      if (++rows != 3) continue;
      // Deep inside a long run rows are alike, or alternate between two lengths: take the mean.
      const double next = row - std::min({row, left, ahead});
      alone += skipped / row * (std::max(0.0, left - ahead) + std::max(0.0, next - ahead)) / 2;
      all += skipped;
    }
  }
  return alone / all;
}

}  // namespace accsim
