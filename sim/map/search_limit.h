#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_set>

namespace accsim::sim {

/// How much the searches of one costing look at, in all their threads, and the most that they may:
/// those for tilings, and those for the pieces in which ops take turns. One that comes to more
/// ends, and no further one begins: what has been found is no good then. It counts in tilings
/// bounded, 40 ns each; all that is said here was measured on 8x8 and 64x64.
class SearchLimit {
 public:
  explicit SearchLimit(int64_t most_tilings) : most_(most_tilings) {}

  int64_t most_tilings() const { return most_; }
  /// Tilings that were bounded.
  void add_bounded(int64_t tilings) { spent_.fetch_add(tilings, std::memory_order_relaxed); }
  /// Programs of so many steps in all were timed: 4 us each and 80 ns a step.
  void add_timings(int64_t programs, int64_t steps) { add_bounded(100 * programs + 2 * steps); }
  /// The program of a mapping was written and checked, of so many steps: 1.5 us and 400 bytes each.
  void add_program(int64_t steps) { add_bounded(40 * steps); }
  /// So many bursts of a banked DRAM were gone through one by one for a kind of transfers, 20 ns
  /// each. A kind counts once, whichever threads meet it.
  void add_walk(uint64_t kind, int64_t bursts) {
    const std::lock_guard lock(mutex_);
    if (walks_.insert(kind).second) add_bounded(bursts / 2);
  }
  /// Programs took their turn in a chain, 120 ns each; what it hadn't met there was timed, too.
  void add_turns(int64_t programs) { add_bounded(3 * programs); }

  int64_t spent() const { return spent_.load(std::memory_order_relaxed); }
  bool is_over() const { return given_up_ || spent() > most_; }
  /// There is no memory for a search.
  void give_up() { given_up_ = true; }
  /// Other searches begin; but not after one that came to more.
  void start_over() {
    if (is_over()) return;
    const std::lock_guard lock(mutex_);
    spent_ = 0;
    walks_.clear();
  }

 private:
  const int64_t most_;
  std::atomic<int64_t> spent_ = 0;
  std::atomic<bool> given_up_ = false;
  std::mutex mutex_;
  std::unordered_set<uint64_t> walks_;  ///< kinds that were counted
};

}  // namespace accsim::sim
