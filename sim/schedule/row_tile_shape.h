#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/schedule/row_groups.h"

namespace accsim::sim {

/// Chunks of a piece's rows in the vector unit: the array works beside the last, and the unit
/// stands still while the first is loaded.
inline constexpr int64_t kFewChunks = 2, kManyChunks = 4;

/// How a run of rows is cut.
struct RowTileShape {
  int64_t pieces = 1;  ///< 1: it isn't
  int64_t chunks = kFewChunks;
  int pair = -1;  ///< which of its pairs is cut, the rest of it stays whole; -1: all of it
  /// Parts of a piece in the vector unit, of a chunk each where there are several: ops on the array
  /// stand between them, so that slots of activations go to both by turns.
  int64_t parts = 1;

  bool operator==(const RowTileShape&) const = default;
};

/// A piece of op `k` of a run, or a part of it.
struct PartStep {
  size_t k = 0;
  int64_t piece = 0, part = 0;
};
/// The order of a run's pieces with those of the vector unit in parts: what a step has on the array
/// stands between what it has in the vector unit, whose last part stands before the last of it.
std::vector<PartStep> in_parts(const std::vector<TileStep>& turns,
                               const std::vector<bool>& on_array, int64_t parts);
/// Most pieces of which parts have been written and not all have been read, by op that writes them.
std::vector<int64_t> most_alive(const std::vector<PartStep>& turns,
                                const std::vector<bool>& on_array, int64_t parts);

/// What of a run is cut.
inline const RowGroup* cut_part(const RowGroup* run, const RowTileShape& as) {
  return as.pair < 0 ? run : &run->pairs[static_cast<size_t>(as.pair)].second;
}

/// Chooses how a run's ops are done, as a whole or cut. A way may not be slower than the whole, and
/// must be within the slack of the fastest way that cuts all ops or none. Of these it takes the
/// least cycles times DRAM bytes. A pair that is only faster isn't taken.
class RowShapeChoice {
 public:
  struct Tried {
    RowTileShape cut;
    int64_t cycles = 0, dram_bytes = 0;  ///< cycles: until the end of the run
  };
  /// begin: cycles before the run; most_slack: the most that best() is asked for.
  RowShapeChoice(int64_t begin, double most_slack, const Tried& whole)
      : begin_(begin), most_slack_(most_slack), fewest_(whole.cycles), tried_{whole} {}

  void offer(const Tried& t) {
    if (t.cycles > whole_cycles()) return;
    if (t.cut.pair < 0) fewest_ = std::min(fewest_, t.cycles);
    tried_.push_back(t);
  }
  /// Cycles until the end of the ops as a whole.
  int64_t whole_cycles() const { return tried_.front().cycles; }
  /// Cycles beyond which nothing is taken any more: what is offered may then have any beyond it.
  int64_t cycle_limit() const { return cycle_limit(most_slack_); }
  /// With so much slack of the run's own cycles. The first of equals; without slack the fewest
  /// bytes of the fastest.
  RowTileShape best(double slack) const {
    RowTileShape out;
    double least = std::numeric_limits<double>::infinity();
    for (const Tried& t : tried_) {
      const double cycles_times_bytes =
          static_cast<double>(t.cycles - begin_) * static_cast<double>(t.dram_bytes);
      if (t.cycles > cycle_limit(slack) || cycles_times_bytes >= least) continue;
      least = cycles_times_bytes;
      out = t.cut;
    }
    return out;
  }

 private:
  int64_t cycle_limit(double slack) const {
    const double taken = (1 + slack) * static_cast<double>(fewest_ - begin_);
    return std::min(whole_cycles(), begin_ + static_cast<int64_t>(taken));
  }

  int64_t begin_;
  double most_slack_;
  int64_t fewest_;
  std::vector<Tried> tried_;  ///< the first: the ops as a whole
};

}  // namespace accsim::sim
