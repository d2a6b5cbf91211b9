#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace accsim {

/// Watches the machine state at the end of each iteration of one loop and tells when the loop has
/// become periodic, and so predictable for any number of iterations.
///
/// Why that is exact: within an iteration every written time is a maximum of sums of earlier times
/// and constants, f(x) = A (x) x. Split the entries into W (written by the body) and K (not written;
/// every written queue or token time grows strictly with each use, so an entry that stays put over a
/// period isn't written). If over one period all of W has grown by the same L > 0, then each w in W
/// was reached through W or through K; over the next period the W part has grown by L too, so the K
/// part can be the maximum at most in the first of the two. Seen twice in a row, the maximum comes
/// from W, and from then on always does: x(i + p) = x(i) + L on W for every later i.
class PeriodDetector {
 public:
  static constexpr int kLongest = 8;  ///< periods tried: 1 .. kLongest iterations

  /// `state`: times as time * kTagRange + tag; equal-length vectors compare entry by entry. The first
  /// `shape` entries are counts, which must be equal, and the next one (the end of everything so far)
  /// must be among the entries that grow. `sums`: counters that are only added to.
  void record(const std::vector<int64_t>& state, const std::vector<int64_t>& sums);

  /// Forgets everything recorded.
  void reset() { recorded_ = 0; }

  /// The period in iterations when one has been established; 0 if not yet.
  int period() const;

  /// Moves state and sums ahead by `periods` periods.
  void skip(int period, int64_t periods, std::vector<int64_t>& state,
            std::vector<int64_t>& sums) const;

  static constexpr int64_t kTagRange = 8;

 private:
  struct Snapshot {
    std::vector<int64_t> state, sums;
  };
  const Snapshot& back(int ago) const {
    return history_[static_cast<size_t>((recorded_ - 1 - ago) % kDepth)];
  }
  bool repeats(int p) const;

  static constexpr int kDepth = 2 * kLongest + 1;
  std::array<Snapshot, kDepth> history_;
  int recorded_ = 0;
};

}  // namespace accsim
