#include "hw/dram/closed_form.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "hw/dram/controller.h"
#include "hw/dram/visits.h"
#include "sim/base/units.h"

namespace accsim {
namespace {

constexpr double kReads = kDramReadQueue, kWrites = kDramWriteQueue, kBatch = kDramBatch,
                 kAhead = kDramAhead;

double real(int64_t value) { return static_cast<double>(value); }

/// The timings as real numbers, and what follows from them for one direction.
struct Direction {
  double queue, recovery, share;
  bool write;
};

class Formula {
 public:
  Formula(const DramSystem& system, const DramVisits& visits, double write_share)
      : d_(system.device), t_(system.device.t), v_(visits), share_(write_share) {
    burst_ = std::max(real(d_.burst_clocks), real(t_.ccd_s));
    read_ = {kReads, real(t_.rtp), 1 - write_share, false};
    write_ = {kWrites, real(t_.cwl + d_.burst_clocks + t_.wr), write_share, true};
  }

  /// Clocks a burst, refresh included.
  double clocks() const {
    const double read = share_ < 1 ? one_way(read_) : 0;
    const double write = share_ > 0 ? one_way(write_) : 0;
    double t = (1 - share_) * read + share_ * write;
    if (share_ > 0 && share_ < 1) t += turns();
    const double recovery = (1 - share_) * read_.recovery + share_ * write_.recovery;
    const double lost = recovery + real(t_.rp_all + t_.rfc + t_.rcd) - burst_;
    return t / (1 - lost / real(t_.refi));
  }

 private:
  double one_way(const Direction& way) const;
  double busiest_group(bool write) const;
  double bus() const;
  double activates(double bus) const;
  double bank_time(const Direction& way, double bursts) const;
  double stall(const Direction& way, double bus, double clocks) const;
  double stall(const Direction& way, double bus, double clocks, double part) const;
  double blocked(double served, double other, double turn) const;
  double window_clocks(double window, double turn) const;
  double phase_loss(const Direction& way, double phase, double turn) const;
  double turns() const;
  /// A run's rows may be wanted all at once, however long it is.
  double least_window(double bursts) const {
    return v_.endless ? bursts : std::max(bursts, v_.bursts);
  }
  double column_spacing() const { return std::max(real(t_.ccd_l), real(d_.burst_clocks)); }

  const DramDevice& d_;
  const DramTimings& t_;
  const DramVisits& v_;
  double share_, burst_ = 0;
  Direction read_{}, write_{};
};

double Formula::bus() const {
  if (d_.two_command_buses) return burst_;
  const double column = real(t_.cas_slots);
  const double slots = column + v_.activates * real(t_.act_slots + t_.pre_slots);
  return std::max(burst_ + v_.activates * column * (column - 1) / burst_, slots);
}

/// When activates are evenly spaced by tRRD, with no slack in tFAW, one that waits for the command
/// bus (half a command on average) delays all that follow.
double Formula::activates(double bus) const {
  const double clocks = v_.activates * std::max(real(t_.rrd_s), real(t_.faw) / 4);
  if (d_.two_command_buses || t_.rrd_s * 4 < t_.faw) return clocks;
  const double column = real(t_.cas_slots), row = real(t_.pre_slots);
  return clocks + v_.activates * (column * column + row * row * v_.activates) / 2 /
                      std::max(clocks, bus);
}

/// Clocks of `window` bursts, as many as a queue shows, of a bus that is idle for `turn` of them:
/// the longer of bus and activates, expected over how many of the runs a row's end splits.
double Formula::window_clocks(double window, double turn) const {
  const double free_bus = bus(), spacing = activates(free_bus) / v_.activates;
  const double runs = window / v_.bursts;
  const double used = window * free_bus + turn;
  const double whole = spacing * v_.unsplit * runs;
  if (v_.endless || !v_.random_places || v_.split <= 0 || v_.split >= 1)
    return std::max(used, spacing * v_.activates * window);
  const double extra = spacing * (v_.activates * v_.bursts - v_.unsplit) / v_.split;
  double expected = 0, below = std::floor(runs);
  for (const double n : {below, below + 1}) {
    const double weight = n == below ? below + 1 - runs : runs - below;
    double chance = std::pow(1 - v_.split, n);
    for (double k = 0; k <= n; k += 1) {
      expected += weight * chance * std::max(used, whole + k * extra);
      chance *= (n - k) / (k + 1) * v_.split / (1 - v_.split);
    }
  }
  return expected;
}

/// How long a visit of `bursts` keeps its bank.
double Formula::bank_time(const Direction& way, double bursts) const {
  return std::max(real(t_.rc), real(t_.rcd) + (bursts - 1) * column_spacing() + way.recovery +
                                   real(t_.rp));
}

double Formula::one_way(const Direction& way) const {
  const double free_bus = bus();
  const double window = least_window(way.queue);
  double t = std::max({free_bus, activates(free_bus), window_clocks(window, 0) / window});
  t = std::max(t, v_.activates * bank_time(way, v_.bursts_a_visit) / real(d_.all_banks()));
  const double excess = column_spacing() - burst_;
  if (excess > 0 && v_.endless && !v_.groups_high)
    t = std::max(t, column_spacing() * busiest_group(way.write));
  if (excess > 0 && v_.groups_high && v_.random_places) {
    const double ahead = way.queue - 1 - real(t_.rcd) / column_spacing();
    // Reads and writes of one stream share its rows: a queue sees its own part of them.
    const double part = v_.endless ? way.share : 1;
    t = std::max(t, free_bus + excess * single_group_share(d_, v_, ahead / part));
  }
  return std::max(t + stall(way, free_bus, t), v_.least_clocks);
}

/// Of a stream over all groups whose reads and writes alternate evenly: the share of one
/// direction's bursts, as many as its queue shows, that lie in one group.
double Formula::busiest_group(bool write) const {
  constexpr int kWindows = 16;
  const auto groups = static_cast<size_t>(d_.bank_groups);
  const auto queue = static_cast<int>(write ? kWrites : kReads);
  std::vector<int> bursts(groups);
  double written = 0, sum = 0;
  size_t group = 0;
  for (int window = 0; window < kWindows; ++window) {
    std::fill(bursts.begin(), bursts.end(), 0);
    for (int left = queue; left > 0; group = (group + 1) % groups) {
      written += share_;
      const bool is_write = written >= 1;
      if (is_write) written -= 1;
      if (is_write != write) continue;
      ++bursts[group];
      --left;
    }
    sum += real(*std::max_element(bursts.begin(), bursts.end())) / queue;
  }
  return sum / kWindows;
}

/// Expected wait of a run's successors for a bank, a burst; see closed_form.h.
double Formula::stall(const Direction& way, double bus, double clocks) const {
  if (!v_.random_places) return 0;
  // A run that a row's end splits lies in two places.
  const double parts = std::max(2.0, v_.bursts / v_.part);
  return (1 - v_.split) * stall(way, bus, clocks, v_.bursts) +
         v_.split * stall(way, bus, clocks, v_.bursts / parts);
}

double Formula::stall(const Direction& way, double bus, double clocks, double part) const {
  const double run = v_.bursts, visible = std::max(1.0, way.queue / part);
  const double stagger = (v_.groups_used - 1) * burst_ / 2;
  const double slack = std::max(1.0, way.queue / run) * run * std::max(0.0, clocks - bus);
  const double busy = way.recovery + real(t_.rp + t_.rcd) - burst_ - stagger - slack;
  const double time = run * clocks;
  const auto least_wait = [&](double runs, double hidden) {
    double expected = 0;
    for (int j = 0; j < 64; ++j) {
      const double wait = busy - j * time - hidden, next = std::max(0.0, wait - time);
      if (wait <= 0) break;
      expected += (wait - next) * std::pow(std::min(1.0, (j + 1) / v_.places), runs);
    }
    return expected;
  };
  const double whole = std::floor(visible);
  const double hidden = part > way.queue ? 0 : (visible - whole) * time;
  return (least_wait(whole + 1, 0) + (1 - 1 / v_.places) * least_wait(whole, hidden)) / run;
}

/// Chances of how many of `places` `runs` random runs take (a fraction of a run: in proportion).
std::vector<double> taken_places(int places, double runs) {
  std::vector<double> chance(static_cast<size_t>(places) + 1);
  chance[0] = 1;
  for (double left = runs; left > 0; left -= 1) {
    const double step = std::min(1.0, left);
    for (int k = places; k >= 0; --k) {
      const auto i = static_cast<size_t>(k);
      const double stays = 1 - step * (1 - real(k) / places);
      const double comes = k > 0 ? chance[i - 1] * step * (1 - real(k - 1) / places) : 0;
      chance[i] = chance[i] * stays + comes;
    }
  }
  return chance;
}

/// Expected wait, at a turn, of the `other` queue (in bursts) for a bank, beyond the `turn` clocks
/// of the bus: when the `served` queue uses every place that it wants, so that no row could be
/// opened ahead; and when only one run is ready, of which any part may be left.
double Formula::blocked(double served, double other, double turn) const {
  const double wait = 1 + real(t_.rp + t_.rcd) - turn;
  if (v_.endless || !v_.random_places || wait <= 0) return 0;
  const auto runs = [&](double queue) { return 1 + (queue - 1) / v_.bursts; };
  const int places = static_cast<int>(std::lround(v_.places));
  const double hides = v_.bursts * burst_, wanted = runs(other);
  const double rest = hides > wait ? wait * wait / (2 * hides) : wait - hides / 2;
  const std::vector<double> taken = taken_places(places, runs(served));
  double clocks = 0;
  for (int k = 1; k <= places; ++k) {
    const double busy = real(k) / places, others = std::pow(busy, wanted - 1);
    clocks += taken[static_cast<size_t>(k)] * others * (busy * wait + wanted * (1 - busy) * rest);
  }
  return clocks;
}

/// What `turn` clocks of idle bus add to one phase of `phase` bursts: activates go on meanwhile, as
/// far ahead as the queue shows runs.
double Formula::phase_loss(const Direction& way, double phase, double turn) const {
  const double window = least_window(std::min(way.queue, phase));
  return window_clocks(window, turn) - window_clocks(window, 0);
}

/// What going from reads to writes and back costs, a burst.
double Formula::turns() const {
  // Neighbouring runs of writes are one batch when together they are longer.
  const double together = std::max(1.0, share_ / (1 - share_));
  const double batch = std::max(kBatch, v_.endless ? 0 : v_.bursts * together);
  const double to_write = real(t_.rtw);
  const double to_read = real(t_.cwl + d_.burst_clocks + t_.wtr_s);
  const double write_turn = to_write - burst_ + blocked(kReads - kAhead, kWrites, to_write);
  const double read_turn = to_read - burst_ + blocked(kWrites - kBatch - kAhead, kReads, to_read);
  const double lost = phase_loss(write_, batch, write_turn) +
                      phase_loss(read_, batch / share_ * (1 - share_), read_turn);
  return share_ * std::max(0.0, lost) / batch;
}

}  // namespace

DramEstimate estimate_dram(const DramSystem& system, const DramPattern& pattern) {
  const DramVisits visits = count_visits(system, pattern);
  const Formula formula(system, visits, std::clamp(pattern.write_share, 0.0, 1.0));
  DramEstimate out;
  out.clocks_per_burst = formula.clocks() / visits.balance;
  out.activates_per_burst = visits.activates;
  out.efficiency = real(system.device.burst_clocks) / out.clocks_per_burst;
  return out;
}

}  // namespace accsim
