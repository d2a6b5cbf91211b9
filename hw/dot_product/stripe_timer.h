#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "hw/dot_product/engine_fields.h"
#include "hw/dot_product/layer_cut.h"

namespace accsim::hw {

/// What the stripes of a kernel group have in common.
struct GroupStripes {
  int64_t blocks = 1;       ///< per stripe
  int64_t load_cycles = 0;  ///< to load a block's weights
  int64_t there = 0;        ///< the cycle from which weights and features are there
};

/// Blocks and output atoms of stripes, one after the other (docs/dot-product.md, "Blocks" and
/// "Outputs"). Times are cycles from time zero.
///
/// Why skipping is exact: a stripe's times are maxima of sums of earlier times and constants, so
/// they move with what the stripe begins from. That is the last block's issue, how long this block
/// lasts, the last atom, and the atoms whose places aren't free in the cycle of that issue: the
/// next stripe is issued later, so a place that is free by then never holds it up. Where two
/// stripes of a run leave all of this as it was, relative to the issue, what lies between them
/// repeats.
class StripeTimer {
 public:
  explicit StripeTimer(const DotProductEngine& engine) : engine_(engine) {}

  /// A layer begins: its first atom is the next one.
  void begin_layer() {
    first_atom_.reset();
    waited_ = 0;
  }
  /// All stripes of a kernel group.
  void run_group(const std::array<StripeRun, 3>& stripes, const GroupStripes& group);

  /// When the last block was issued and has lasted.
  int64_t blocks_end() const { return now_.issued + now_.lasts; }
  /// When the last block began to be loaded.
  int64_t last_load() const { return last_load_; }
  int64_t first_atom() const { return *first_atom_; }  ///< of the layer
  int64_t last_atom() const { return *now_.last_atom; }
  /// Cycles by which blocks of the layer began later because weights or features weren't there.
  int64_t waited() const { return waited_; }
  /// Stripes that were stepped, not skipped.
  int64_t stepped() const { return stepped_; }

 private:
  /// Output atoms that follow one another every `atom_cycles`.
  struct AtomRun {
    int64_t first, count;  // cycle of its first atom; atoms
  };
  /// All that the next stripe depends on.
  struct State {
    int64_t issued = 0, lasts = 0;     // of the block before
    std::optional<int64_t> last_atom;  // handed out before
    std::vector<AtomRun> held;         // atoms whose places aren't free in cycle `issued`

    bool equals_but_for_time(const State& other) const;
    void move(int64_t cycles);
  };

  void run_equal(const StripeRun& run, const GroupStripes& group);
  void step(int64_t outputs, const GroupStripes& group);
  int64_t places_free(int64_t outputs) const;
  void hand_out(int64_t outputs);
  void free_places();

  DotProductEngine engine_;
  State now_;
  int64_t last_load_ = 0, waited_ = 0, stepped_ = 0;
  std::optional<int64_t> first_atom_;
};

}  // namespace accsim::hw
