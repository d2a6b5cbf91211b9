#pragma once

#include <atomic>
#include <cstdint>

namespace accsim::sim {

/// How much the searches for products of one costing look at, in all their threads, and the most
/// that they may. One that comes to more ends, and no further one begins: what has been found is no
/// good then.
class SearchLimit {
 public:
  /// To time a tiling takes as long as to bound so many (both measured on 8x8: 40 ns, 16 us).
  static constexpr int64_t kBoundsOfATiming = 400;

  explicit SearchLimit(int64_t most_tilings) : most_(most_tilings) {}

  int64_t most_tilings() const { return most_; }
  /// Tilings that were bounded, and those timed.
  void add_spent(int64_t bounded, int64_t timed) {
    spent_.fetch_add(bounded + kBoundsOfATiming * timed, std::memory_order_relaxed);
  }
  bool is_over() const { return spent_.load(std::memory_order_relaxed) > most_; }
  /// There is no memory for a search.
  void give_up() { spent_ = most_ + 1; }
  /// Other searches begin; but not after one that came to more.
  void start_over() {
    if (!is_over()) spent_ = 0;
  }

 private:
  const int64_t most_;
  std::atomic<int64_t> spent_ = 0;
};

}  // namespace accsim::sim
