#include "hw/golden/slots.h"

#include <algorithm>
#include <cstring>

namespace accsim::hw {

void Poison::fill(std::span<uint8_t> bytes) {
  for (size_t i = 0; i < bytes.size(); i += sizeof state_) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    std::memcpy(&bytes[i], &state_, std::min(sizeof state_, bytes.size() - i));
  }
}

SlotRing::SlotRing(int64_t slots, int64_t slot_bytes)
    : slots_(static_cast<size_t>(slots), std::vector<uint8_t>(static_cast<size_t>(slot_bytes))),
      written_(static_cast<size_t>(slots), slot_bytes),
      scratch_(static_cast<size_t>(slot_bytes)) {}

bool SlotRing::apply_sync(SyncKind kind, Poison& poison) {
  switch (kind) {
    case SyncKind::wait_free:
      if (filling_ || filled_ + primed_ - read_ >= slot_count()) return false;
      filling_ = true;
      spoil_slot(slot_index(filling_at()), poison);
      return true;
    case SyncKind::signal_full:
      if (!filling_ || (primed_ > 0 && !adding_)) return false;
      filling_ = adding_ = false;
      ++filled_;
      return true;
    case SyncKind::wait_full:
      if (held_ || read_ >= filled_) return false;
      held_ = true;
      return true;
    case SyncKind::signal_free:
      if (!held_) return false;
      held_ = false;
      ++read_;
      return true;
    case SyncKind::signal_primed:
      if (!filling_ || adding_) return false;
      filling_ = false;
      ++primed_;
      return true;
    case SyncKind::wait_primed:
      if (filling_ || primed_ == 0) return false;
      filling_ = adding_ = true;
      --primed_;
      return true;
  }
  return false;
}

void SlotRing::spoil_slot(size_t slot, Poison& poison) {
  poison.fill(std::span(slots_[slot]).first(static_cast<size_t>(written_[slot])));
  written_[slot] = 0;
}

std::span<uint8_t> SlotRing::slot_to_fill(Poison& poison, int64_t end) {
  if (filling_) {
    int64_t& written = written_[slot_index(filling_at())];
    written = std::max(written, end);
  }
  return slot_or_scratch(filling_, filling_at(), poison);
}

std::span<uint8_t> SlotRing::slot_or_scratch(bool mine, int64_t ordinal, Poison& poison) {
  if (mine) return slots_[slot_index(ordinal)];
  poison.fill(scratch_);
  return scratch_;
}

}  // namespace accsim::hw
