#include "hw/dram/closed_form.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "hw/dram/controller.h"
#include "hw/dram/row_visits.h"
#include "hw/dram/stepped.h"
#include "sim/base/units.h"

namespace accsim::hw {
namespace {

constexpr double kReads = kDramReadQueue, kWrites = kDramWriteQueue;

/// One direction of the traffic.
struct Direction {
  bool write = false;
  double share = 0;  ///< of all bursts
  double queue = 0;
  double recovery = 0;  ///< clocks from a bank's last column command to its precharge
};

/// The timings as real numbers, and what follows from them; see closed_form.h.
class Formula {
 public:
  Formula(const DramSystem& system, const RowVisits& visits, double write_share);

  double clocks_a_burst() const;  ///< a burst, refresh included

 private:
  double one_way(const Direction& way) const;
  double closed_network(const Direction& way) const;
  double busiest_group(bool write) const;
  double one_group_ahead(const Direction& way) const;
  double bus_clocks() const;
  double activate_spacing() const;
  double bank_hold(const Direction& way, double bursts) const;
  double bank_stall(const Direction& way, double clocks) const;
  double bank_stall(const Direction& way, double clocks, double part) const;
  double blocked_clocks(double served, double other, double turn) const;
  double window_clocks(double window, double turn) const;
  double rows_in_phase(const Direction& way, double phase) const;
  double lost_clocks(const Direction& way, double phase, double turn) const;
  double turn_clocks() const;
  /// A run's rows may be wanted all at once, however long it is.
  double least_window(double bursts) const { return std::max(bursts, v_.bursts); }
  double column_spacing() const { return std::max(real(t_.ccd_l), real(d_.burst_clocks)); }

  const DramDevice& d_;
  const DramTimings& t_;
  const RowVisits& v_;
  double burst_ = 0;
  Direction read_{}, write_{};
};

Formula::Formula(const DramSystem& system, const RowVisits& visits, double write_share)
    : d_(system.device), t_(system.device.t), v_(visits) {
  burst_ = std::max(real(d_.burst_clocks), real(t_.ccd_s));
  read_ = {false, 1 - write_share, kReads, real(t_.rtp)};
  write_ = {true, write_share, kWrites, real(t_.cwl + d_.burst_clocks + t_.wr)};
}

double Formula::clocks_a_burst() const {
  double t = 0;
  if (read_.share > 0) t += read_.share * one_way(read_);
  if (write_.share > 0) t += write_.share * one_way(write_);
  if (read_.share > 0 && write_.share > 0) t += turn_clocks();
  const double recovery = read_.share * read_.recovery + write_.share * write_.recovery;
  const double refresh = recovery + real(t_.rp_all + t_.rfc + t_.rcd) - burst_;
  return t / (1 - refresh / real(t_.refi));
}

double Formula::bus_clocks() const {
  if (d_.two_command_buses) return burst_;
  const double rows = v_.activates * real(t_.act_slots + t_.pre_slots);
  return std::max(burst_, real(t_.cas_slots) + rows);
}

/// Clocks between activates. On one command bus a column command goes before an activate that would
/// delay it. When activates are the limit, each one's first column command follows tRCD later; if
/// the k-th activate after it falls upon that, it has to wait until after, for ever.
double Formula::activate_spacing() const {
  const double free = std::max(real(t_.rrd_s), real(t_.faw) / 4);
  // Column commands that wait for the data bus don't follow at once.
  const bool waits = free * v_.unsplit <= v_.bursts * burst_;
  if (d_.two_command_buses || t_.cas_slots == 1 || waits) return free;
  const double first = real(t_.rcd - t_.cas_slots), last = real(t_.rcd + t_.act_slots);
  const double k = std::floor(first / free) + 1;
  return k * free < last ? last / k : free;
}

/// Clocks of `window` bursts of a bus that is idle for `turn` of them: the longer of bus and
/// activates, expected over how many of the runs a row's end splits.
double Formula::window_clocks(double window, double turn) const {
  const double space = activate_spacing(), used = window * bus_clocks() + turn;
  if (v_.endless || v_.split <= 0 || v_.split >= 1)
    return std::max(used, space * v_.activates * window);
  const double runs = window / v_.bursts, whole = space * v_.unsplit * runs;
  const double extra = space * (v_.activates * v_.bursts - v_.unsplit) / v_.split;
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

/// How long a visit of `bursts` keeps its bank, tRC apart.
double Formula::bank_hold(const Direction& way, double bursts) const {
  return real(t_.rcd) + (bursts - 1) * column_spacing() + way.recovery + real(t_.rp);
}

/// Bursts that the queue shows beyond those that are served while the next row is opened. A bank
/// has to be closed first unless a refresh did it since its last visit.
double Formula::one_group_ahead(const Direction& way) const {
  const double visits = v_.places * v_.bursts_a_visit * burst_ / real(t_.refi);
  const double opening = real(t_.rcd) + real(t_.rp) * std::max(0.0, 1 - visits);
  // A queue sees its own part of a stream that is read and written.
  return (way.queue - 1 - opening / column_spacing()) / (v_.endless ? way.share : 1);
}

double Formula::one_way(const Direction& way) const {
  const double free_bus = bus_clocks(), window = v_.endless ? way.queue : least_window(way.queue);
  const double bank = std::max(real(t_.rc), bank_hold(way, v_.bursts_a_visit));
  double t =
      std::max({free_bus, activate_spacing() * v_.activates, window_clocks(window, 0) / window,
                v_.activates * bank / real(d_.all_banks())});
  const double excess = column_spacing() - burst_;
  if (excess > 0 && v_.endless && !v_.groups_high)
    t = std::max(t, column_spacing() * busiest_group(way.write));
  if (excess > 0 && v_.groups_high)
    t = std::max(t, free_bus + excess * single_group_share(d_, v_, one_group_ahead(way)));
  return std::max(t + bank_stall(way, t), closed_network(way));
}

/// Where commands take several clocks of one bus, an activate that a busy bank kept from its place
/// in the rhythm isn't made up for: runs circulate through banks, activates and data bus. Mean
/// value analysis (Reiser and Lavenberg 1980) of this closed network, with half a service time as
/// what is left of a fixed one; as many customers as the queue's runs keep banks busy. When the
/// data bus is slower than the activates, columns wait for it while tRAS passes. Clocks a burst.
double Formula::closed_network(const Direction& way) const {
  const double run = v_.bursts;
  if (v_.endless || d_.two_command_buses || t_.cas_slots == 1) return 0;
  if (way.queue / run < v_.places) return 0;  // runs wait for the bus, not for each other's banks
  const double activate = activate_spacing() * v_.activates * run, data = run * burst_;
  const double hold = bank_hold(way, run), cycle = real(t_.rc);
  const double runs = v_.places * (1 - std::pow(1 - 1 / v_.places, 1 + (way.queue - 1) / run));
  double activating = 0, moving = 0, rate = 0;  // customers at each, runs a clock
  for (double left = runs, n = 0; left > 0; left -= 1) {
    n += std::min(1.0, left);
    const double a = activate * (1 + activating - rate * activate / 2);
    const double m = data * (1 + moving - rate * data / 2);
    const double wait = m - data;
    const double bank =
        data > activate ? std::max(cycle, hold + wait) : std::max(cycle, hold) + wait;
    rate = std::min({n / (a - activate + bank), 1 / activate, 1 / data});
    activating = rate * a;
    moving = rate * m;
  }
  return 1 / rate / run;
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
      written += write_.share;
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
double Formula::bank_stall(const Direction& way, double clocks) const {
  // A run that a row's end splits lies in two places.
  const double parts = std::max(2.0, v_.bursts / v_.part);
  return (1 - v_.split) * bank_stall(way, clocks, v_.bursts) +
         v_.split * bank_stall(way, clocks, v_.bursts / parts);
}

double Formula::bank_stall(const Direction& way, double clocks, double part) const {
  const double run = v_.bursts, visible = std::max(1.0, way.queue / part);
  const double stagger = (v_.groups_used - 1) * burst_ / 2;
  const double slack = std::max(1.0, way.queue / run) * run * std::max(0.0, clocks - bus_clocks());
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
double Formula::blocked_clocks(double served, double other, double turn) const {
  const double wait = 1 + real(t_.rp + t_.rcd) - turn;
  if (v_.endless || wait <= 0) return 0;
  const auto runs = [&](double queue) { return 1 + (queue - 1) / v_.bursts; };
  const int places = static_cast<int>(std::lround(v_.places));
  const double hides = v_.bursts * burst_, wanted = runs(other);
  const double rest = hides > wait ? wait * wait / (2 * hides) : wait - hides / 2;
  const std::vector<double> taken = taken_places(places, runs(served - 2 * kDramAhead));
  double clocks = 0;
  for (int k = 1; k <= places; ++k) {
    const double busy = real(k) / places, others = std::pow(busy, wanted - 1);
    clocks += taken[static_cast<size_t>(k)] * others * (busy * wait + wanted * (1 - busy) * rest);
  }
  const double ends = std::min(1.0, 2 * kDramAhead / v_.bursts), span = 2 * kDramAhead * burst_;
  const double late = wait < span ? wait / 2 / span : 1 - span / 2 / wait;
  return clocks * (ends * late + 1 - ends);
}

/// Rows that one direction of a stream visits in a phase: each opens its rows itself, as the other
/// direction is elsewhere by then.
double Formula::rows_in_phase(const Direction& way, double phase) const {
  return phase * std::min(1.0, v_.activates / way.share);
}

/// What `turn` clocks of idle bus add to one phase of `phase` bursts: activates go on meanwhile, as
/// far ahead as the queue shows runs. Of a stream's rows those are open that found a bank while the
/// other direction was served; the others, with the groups
/// high, find theirs when the first of them is done.
double Formula::lost_clocks(const Direction& way, double phase, double turn) const {
  if (v_.endless) {
    const double late = rows_in_phase(way, phase) - (real(d_.all_banks()) - v_.groups_used);
    if (late <= 0) return turn;
    const double reused = v_.groups_high ? way.recovery + real(t_.rp + t_.rcd) : 0;
    return std::max(turn, reused + late * activate_spacing() - phase * bus_clocks());
  }
  const double window = least_window(std::min(phase, kReads));
  const double least = window * closed_network(way);
  return std::max(least, window_clocks(window, turn)) - std::max(least, window_clocks(window, 0));
}

/// What going from reads to writes and back costs, a burst.
double Formula::turn_clocks() const {
  const DramBatch batch = dram_batch(write_.share);
  const double to_write = real(t_.rtw);
  // With the groups high all reads that wait may lie in the group that was written last.
  const double runs = 1 + (kReads - 1) / v_.bursts;
  const double same = v_.groups_high ? std::pow(1 / real(d_.bank_groups), runs) : 0;
  const double to_read =
      real(t_.cwl + d_.burst_clocks + t_.wtr_s) + same * real(t_.wtr_l - t_.wtr_s);
  const double write_turn = to_write - burst_ + blocked_clocks(kReads, kWrites, to_write);
  const double read_turn = to_read - burst_ + blocked_clocks(kWrites, kReads, to_read);
  return (lost_clocks(write_, batch.writes, write_turn) +
          lost_clocks(read_, batch.reads, read_turn)) /
         (batch.reads + batch.writes);
}

/// What a channel did in one refresh interval.
struct Interval {
  int64_t bursts = 0, activates = 0;
};

/// Strided runs meet banks and groups in an order of their own: the beginning is stepped, and
/// measured over whole refresh intervals of the slowest channel.
DramEstimate estimate_strided(const DramSystem& system, const DramPattern& pattern) {
  constexpr int64_t kWalked = 32768;  // bursts a channel
  std::vector<std::vector<Interval>> seen(static_cast<size_t>(system.channels));
  const auto observe = [&](const DramEvent& e) {
    auto& intervals = seen[static_cast<size_t>(e.channel)];
    intervals.resize(static_cast<size_t>(e.clock / system.device.t.refi) + 1);
    const bool moves = e.command == DramCommand::read || e.command == DramCommand::write;
    intervals.back().bursts += moves;
    intervals.back().activates += e.command == DramCommand::activate;
  };
  run_stepped(system, pattern, kWalked * system.channels, 1, observe);
  DramEstimate out;
  for (const auto& intervals : seen) {
    if (intervals.empty()) continue;
    Interval all, settled;
    const size_t half = intervals.size() / 2, last = intervals.size() - 1;
    for (size_t i = 0; i <= last; ++i) {
      all.bursts += intervals[i].bursts;
      // Until then the order may still change; the last interval isn't whole.
      if (i < half || i == last) continue;
      settled.bursts += intervals[i].bursts;
      settled.activates += intervals[i].activates;
    }
    if (settled.bursts == 0) continue;  // hardly used
    const double clocks = real(static_cast<int64_t>(last - half)) * real(system.device.t.refi);
    const double each = clocks / real(settled.bursts) * real(all.bursts) / real(kWalked);
    if (each <= out.clocks_per_burst) continue;
    out.clocks_per_burst = each;
    out.activates_per_burst = real(settled.activates) / real(settled.bursts);
  }
  return out;
}

}  // namespace

DramEstimate estimate_dram(const DramSystem& system, const DramPattern& pattern) {
  DramEstimate out;
  if (pattern.walk == DramWalk::strided) {
    out = estimate_strided(system, pattern);
  } else {
    const RowVisits visits = count_row_visits(system, pattern);
    const Formula formula(system, visits, std::clamp(pattern.write_share, 0.0, 1.0));
    out.clocks_per_burst = formula.clocks_a_burst();
    out.activates_per_burst = visits.activates;
  }
  out.efficiency = real(system.device.burst_clocks) / out.clocks_per_burst;
  return out;
}

}  // namespace accsim::hw
