#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "hw/dot_product/engine_fields.h"

namespace accsim::hw {

/// From a cycle on, so many entries: that may have been asked for, or that are free.
struct EntriesFrom {
  int64_t cycle = 0, entries = 0;
};

/// What a layer wants to read, and from when on.
struct ReadRequests {
  int64_t features = 0;              ///< entries, > 0
  int64_t features_begin = 0;        ///< cycle
  std::vector<EntriesFrom> weights;  ///< by cycle: entries that may have been asked for then
};

/// The port that features and weights share: in which cycle each entry is asked for
/// (docs/dot-product.md, "Reads"). Where neither what may be asked for nor the turn changes, reads
/// are a run: a cycle of its first and a stride. The work grows with these runs, not with entries.
class ReadPort {
 public:
  explicit ReadPort(const DotProductEngine& engine) : interval_(engine.request_interval) {}

  /// The reads of the next layer, after all reads of the layer before.
  void begin_layer(const ReadRequests& demand);
  /// More weights may be asked for. Features must all have been asked for by that cycle.
  void allow(EntriesFrom weights);

  /// The cycle in which the layer's n-th entry of weights is asked for, from 1. Calls must be in
  /// order of n, and it must have been allowed.
  int64_t weight_read(int64_t n);
  int64_t first_read() const { return first_read_; }
  int64_t last_feature_read() const { return last_feature_read_; }
  /// Of those that have been asked for so far.
  int64_t last_read() const { return last_read_; }

 private:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  /// Weights that are asked for with the same stride.
  struct Run {
    int64_t before, count;  // entries asked for before it; entries of its own
    int64_t cycle, stride;  // of its first read; to the next one
  };

  void add(EntriesFrom weights);
  void run_on();
  bool step();
  int64_t next_change() const;
  void read_weights(int64_t cycle, int64_t stride, int64_t count);
  void read_features(int64_t cycle, int64_t stride, int64_t count);
  void read_in_turns(int64_t reads);
  void note(int64_t first, int64_t last);

  int64_t interval_;
  int64_t next_ = 0;            // the port is free from this cycle on
  bool features_turn_ = false;  // where both may be asked for; before any read it is the weights
  ReadRequests demand_;         // its weights in rising order of entries
  size_t opened_ = 0;           // of demand_.weights
  int64_t open_ = 0;            // entries of weights that may have been asked for in next_
  int64_t asked_ = 0, features_left_ = 0;
  std::vector<Run> runs_;
  size_t cursor_ = 0;  // the run of the last weight_read()
  int64_t first_read_ = kNever, last_feature_read_ = 0, last_read_ = 0;
};

}  // namespace accsim::hw
