#pragma once
#include <array>
#include <cstdint>

#include "hw/timing/simulator_state.h"

namespace accsim::hw {

/// The ends of a loop's latest iterations: they tell when the loop has become periodic.
///
/// Why skipping is exact: within an iteration every time written is a maximum of sums of earlier
/// times and constants, x' = A (x) x in max-plus algebra, which commutes with adding a constant to
/// every entry. Let W be the entries that the body writes. If all of W has grown by the same L > 0
/// over one period, and the body reads nothing but W, then the next period starts from a state that
/// differs from this one's by the constant L, so it adds L again, and so on for ever: x(i + p) =
/// x(i) + L. Pending moments that are 0 stay out of it: 0 never is the maximum, because no time is
/// negative. The bus of a DRAM isn't a maximum, but it too commutes with adding a constant
/// (Bus), and times before all that a body's queues can still ask for don't matter to it. A body
/// that reads an entry which it doesn't write (`stale`) must show the same growth over two periods
/// in a row: then that entry, which doesn't grow, wasn't the maximum in the second, and never will
/// be again. Reasons (see stamp()) ride in the lowest bits of the times and so obey the same
/// maximum; busy and waiting cycles are differences of times, equal in every period.
class LoopHistory {
 public:
  static constexpr int kLongestPeriod = 8;  ///< iterations

  /// Nothing of the loop has run yet.
  void begin() { recorded_ = 0; }
  /// The end of the next iteration; `state.end` is when the last of its own commands ends.
  void record(const Step& loop, const SimulatorState& state, const CycleSums& sums);
  /// The iterations of the shortest period that the loop is in, with all of its queues past cycle
  /// `zero`; 0: none.
  int64_t find_period(const Step& loop, int64_t zero) const;
  /// By how much everything grows in such a period.
  int64_t growth(int64_t period) const { return ago(0).end - ago(period).end; }
  /// Moves everything that the loop writes ahead by so many periods.
  void move_ahead(const Step& loop, int64_t period, int64_t periods, SimulatorState& state,
                  CycleSums& sums) const;

 private:
  static constexpr int kDepth = 2 * kLongestPeriod + 1;

  /// Of the rings those that the loop writes.
  struct Snapshot {
    std::array<int64_t, kMoments> moments;
    std::array<TokenRing, kRings> rings;
    Bus bus;
    int64_t end;
    CycleSums sums;
  };
  const Snapshot& ago(int64_t iterations) const {
    return snapshots_[static_cast<size_t>((recorded_ - 1 - iterations) % kDepth)];
  }
  static bool has_begun(const Step& loop, const Snapshot& at, int64_t zero);
  static bool has_grown(const Step& loop, const Snapshot& now, const Snapshot& before,
                        int64_t growth);

  int64_t recorded_ = 0;
  std::array<Snapshot, kDepth> snapshots_;
};

}  // namespace accsim::hw
