#pragma once
#include <algorithm>
#include <tuple>

#include "sim/map/product/gemm_space.h"

namespace accsim::sim {

/// The incumbent of a branch and bound: the best that has been found, by which candidates are
/// excluded for their bounds. Where a link to DRAM decides alone, tens of thousands of programs
/// differ by their first and last tiles. So of a product only so many (kTimedForAnything) are timed
/// for whatever they may save, and then those alone whose bounds promise more than a thousandth.
class Incumbent {
 public:
  static constexpr int64_t kTimedForAnything = 1000;
  static constexpr double kWorthIt = 0.999;

  /// The options must outlive it.
  explicit Incumbent(const SpaceOptions& options) : options_(options) {}

  void start_from(const Found& found) { found_ = found; }
  /// After another candidate has been timed.
  void update(const Found& found) {
    ++timed_;
    found_ = found;
  }
  int64_t timed() const { return timed_; }

  /// May it be better, or as good in fewer cycles?
  bool is_promising(const Candidate& c) const {
    return options_.below_dram_bytes == 0 && c.score_bound <= worth_limit(found_.primary) &&
           std::tie(c.score_bound, c.bound) < std::tie(found_.primary, found_.cycles);
  }
  /// May its energy times traffic be less than that of what is within the slack, or may that leave
  /// it?
  bool may_save(const Candidate& c) const {
    const int64_t bound = std::max(c.bound, c.sharp);  // the sharp one is made last
    if (!options_.objective.has_slack() || !is_within_slack(bound)) return false;
    return may_save_energy_traffic(c) ||
           (options_.below_dram_bytes == 0 && bound < found_.energy_traffic_cycles &&
            static_cast<double>(bound) <=
                worth_limit(static_cast<double>(found_.energy_traffic_cycles)));
  }
  /// May its energy times traffic be less, whatever its cycles?
  bool may_save_energy_traffic(const Candidate& c) const {
    return c.energy_traffic < found_.energy_traffic &&
           c.energy_traffic <= worth_limit(found_.energy_traffic);
  }
  /// Not where it is surely no faster, and beyond the slack or saves nothing.
  bool is_worth_timing(const Candidate& c) const {
    return options_.objective.quantity != Objective::cycles ||
           static_cast<double>(c.sharp) <= worth_limit(static_cast<double>(found_.cycles)) ||
           may_save(c);
  }
  /// Only cycles are bounded by the array's streams alone, or by loads.
  bool is_hopeless(double cycles) const {
    if (options_.objective.quantity != Objective::cycles) return false;
    return options_.objective.has_slack()
               ? cycles > most_cycles()
               : cycles >= found_.primary || cycles > worth_limit(found_.primary);
  }
  bool is_within_slack(int64_t cycles) const {
    return static_cast<double>(cycles) <= most_cycles();
  }

 private:
  double most_cycles() const { return (1 + options_.objective.slack) * found_.primary; }
  /// What a bound must not be beyond to be worth a look, of what has been found.
  double worth_limit(double found) const {
    return timed_ < kTimedForAnything ? found : kWorthIt * found;
  }

  const SpaceOptions& options_;
  Found found_;
  int64_t timed_ = 0;
};

}  // namespace accsim::sim
