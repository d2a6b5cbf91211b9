#include "hw/dram/closed_form.h"

#include <algorithm>
#include <cmath>

#include "hw/dram/controller.h"
#include "hw/dram/visits.h"
#include "sim/base/units.h"

namespace accsim {
namespace {

constexpr double kReads = kDramReadQueue, kWrites = kDramWriteQueue;

double real(int64_t value) { return static_cast<double>(value); }

/// The timings as real numbers, and what follows from them for one direction.
struct Direction {
  double queue, recovery;
};

class Formula {
 public:
  Formula(const DramSystem& system, const DramVisits& visits, double write_share)
      : d_(system.device), t_(system.device.t), v_(visits), share_(write_share) {
    burst_ = std::max(real(d_.burst_clocks), real(t_.ccd_s));
    read_ = {kReads, real(t_.rtp)};
    write_ = {kWrites, real(t_.cwl + d_.burst_clocks + t_.wr)};
  }

  /// Clocks a burst, refresh included.
  double clocks() const {
    const double read = one_way(read_), write = one_way(write_);
    double t = (1 - share_) * read + share_ * write;
    if (share_ > 0 && share_ < 1) t += turns(t, write);
    const double recovery = (1 - share_) * read_.recovery + share_ * write_.recovery;
    const double lost = recovery + real(t_.rp_all + t_.rfc + t_.rcd) - burst_;
    return t / (1 - lost / real(t_.refi));
  }

 private:
  double one_way(const Direction& way) const;
  double bus() const;
  double activates(double bus) const;
  double bank_time(const Direction& way, double bursts) const;
  double stall(const Direction& way, double bus, double clocks) const;
  double turns(double clocks, double write_clocks) const;
  double fullest_bank() const;
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

/// How long a visit of `bursts` keeps its bank.
double Formula::bank_time(const Direction& way, double bursts) const {
  return std::max(real(t_.rc), real(t_.rcd) + (bursts - 1) * column_spacing() + way.recovery +
                                   real(t_.rp));
}

double Formula::one_way(const Direction& way) const {
  const double free_bus = bus();
  double t = std::max(free_bus, activates(free_bus));
  t = std::max(t, v_.activates * bank_time(way, v_.bursts_a_visit) / real(d_.all_banks()));
  const double excess = column_spacing() - burst_;
  if (excess > 0 && v_.groups_high && v_.random_places) {
    const double ahead = way.queue - 1 - real(t_.rcd) / column_spacing();
    t = std::max(t, free_bus + excess * single_group_share(d_, v_, ahead));
  }
  return std::max(t + stall(way, free_bus, t), v_.least_clocks);
}

/// Expected wait of a run's successors for a bank, a burst; see closed_form.h.
double Formula::stall(const Direction& way, double bus, double clocks) const {
  if (!v_.random_places) return 0;
  const double run = v_.bursts, visible = std::max(1.0, way.queue / run);
  const double stagger = (v_.groups_used - 1) * burst_ / 2;
  const double slack = visible * run * std::max(0.0, clocks - bus);
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
  const double hidden = run > way.queue ? 0 : (visible - whole) * time;
  return (least_wait(whole + 1, 0) + (1 - 1 / v_.places) * least_wait(whole, hidden)) / run;
}

/// Expected maximum of a batch's runs over the banks, by Poisson.
double Formula::fullest_bank() const {
  const double runs = kWrites / v_.unit, mean = runs / v_.places;
  double expected = 0, below = 0, exactly = std::exp(-mean);
  for (int k = 0; k < 64 && 1 - below > 1e-9; ++k) {
    below += exactly;
    expected += 1 - std::pow(std::min(1.0, below), v_.places);
    exactly *= mean / (k + 1);
  }
  return expected;
}

/// What going from reads to writes and back costs, a burst.
double Formula::turns(double clocks, double write_clocks) const {
  const double batch = std::max(kWrites, v_.endless ? 0 : v_.bursts);
  double to_write = real(t_.rtw);
  double to_read = real(t_.cwl + d_.burst_clocks + t_.wtr_s);
  double tail = 0;
  if (!v_.endless && v_.random_places) {
    const double runs = std::max(1.0, kWrites / v_.unit);
    if (v_.bursts < kWrites) {
      const double last = fullest_bank() * bank_time(write_, 1 + (v_.unit - 1) * burst_ /
                                                                     column_spacing());
      tail = std::max(0.0, last - write_.recovery - real(t_.rp) - kWrites * write_clocks);
    }
    const double recent_w = (write_.recovery + real(t_.rp + t_.rcd)) / (v_.bursts * clocks);
    const double open = 1 + real(t_.rp + t_.rcd), miss = 1 - 1 / v_.places;
    const double recent = (read_.recovery + real(t_.rp + t_.rcd)) / (v_.bursts * clocks);
    const double wanted = 1 - std::pow(miss, std::max(1.0, kReads / v_.bursts) + recent);
    to_write += wanted * std::max(0.0, open - to_write);
    if (tail == 0) to_read += (1 - std::pow(miss, runs + recent_w)) * std::max(0.0, open - to_read);
  }
  // Activates go on while the bus turns round: what they leave of the bus hides the turn.
  const double slack = batch / share_ * std::max(0.0, activates(bus()) - bus());
  const double turn = to_write + to_read - 2 * burst_;
  return share_ * (std::max(0.0, turn - slack) + tail) / batch;
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
