#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "hw/program/program.h"

namespace accsim::hw {

/// Fills with bytes that look random and differ from call to call.
class Poison {
 public:
  void fill(std::span<uint8_t> bytes);

 private:
  uint64_t state_ = 0x9e3779b97f4a7c15;
};

/// One buffer: a ring of equal slots. The producer fills the slot it has waited for, the consumer
/// reads the one it has waited for. Without the wait they get a scratch slot of garbage. What was
/// written to a slot is garbage when it is filled anew.
class SlotRing {
 public:
  SlotRing() = default;
  SlotRing(int64_t slots, int64_t slot_bytes);

  /// False when no token is there, the queue would wait for ever, or when slots would become full
  /// in another order than the ring's.
  bool apply_sync(SyncKind kind, Poison& poison);

  /// The slot to fill, of which bytes before `end` are written.
  std::span<uint8_t> slot_to_fill(Poison& poison, int64_t end);
  std::span<uint8_t> slot_to_read(Poison& poison) { return slot_or_scratch(held_, read_, poison); }
  int64_t producer_slot() const { return filling_at() % slot_count(); }
  int64_t consumer_slot() const { return read_ % slot_count(); }
  int64_t slot_bytes() const { return static_cast<int64_t>(scratch_.size()); }

 private:
  /// A slot that is claimed comes behind the primed ones, which become full before it.
  int64_t filling_at() const { return filled_ + (adding_ ? 0 : primed_); }
  int64_t slot_count() const { return static_cast<int64_t>(slots_.size()); }
  size_t slot_index(int64_t ordinal) const { return static_cast<size_t>(ordinal % slot_count()); }
  void spoil_slot(size_t slot, Poison& poison);
  std::span<uint8_t> slot_or_scratch(bool mine, int64_t ordinal, Poison& poison);

  std::vector<std::vector<uint8_t>> slots_;
  std::vector<int64_t> written_;  ///< by slot: bytes before it aren't garbage
  std::vector<uint8_t> scratch_;
  int64_t filled_ = 0, read_ = 0;  ///< slots handed over in each direction so far
  int64_t primed_ = 0;             ///< slots that loads have filled and no post has taken
  bool filling_ = false, held_ = false;
  bool adding_ = false;  ///< the slot being filled was primed
};

}  // namespace accsim::hw
