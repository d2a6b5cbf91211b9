#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "hw/program/program.h"

namespace accsim::hw {

/// Which queue gives and which takes each token of a program, and the slots that come with them.
/// The n-th wait for a kind of token in the program's text takes the n-th token of that kind, in
/// whichever queues the two stand. The core has a counter per pair of queues, so descriptors name
/// the other queue. Only what several queues use is written out. Regions have one queue on
/// each side and aren't here.
class TokenOrder {
 public:
  TokenOrder(const Program& program, const HwConfig& hw);

  /// The queue of the n-th operation of a kind on a buffer; none when there are no such operations,
  /// and behind the last one where several queues do them.
  std::optional<Queue> queue_of_op(SyncKind kind, Buffer b, int64_t n) const;
  /// Of all operations of a kind on a buffer, the number of those before the n-th that `queue`
  /// does.
  int64_t ordinal_of_op(SyncKind kind, Buffer b, Queue queue, int64_t n) const;
  /// The slot that the n-th wait of a kind which `queue` does on a buffer is for.
  int64_t slot_of_wait(SyncKind kind, Buffer b, Queue queue, int64_t n) const;
  /// Is the n-th claim of a free slot one of those that the buffer begins with?
  bool is_initial(Buffer b, int64_t n) const { return n < slots_[static_cast<size_t>(b)]; }
  int64_t slot_count(Buffer b) const { return slots_[static_cast<size_t>(b)]; }

 private:
  struct Sequence {
    std::set<Queue> users;
    std::vector<Queue> queues;                  ///< by ordinal, when there are several
    PerQueue<std::vector<int64_t>> ordinals{};  ///< of the operations of each queue
  };
  using Sequences = std::array<std::array<Sequence, kBuffers>, kSyncKinds>;

  const Sequence& sequence_at(SyncKind kind, Buffer b) const {
    return sequences_[static_cast<size_t>(kind)][static_cast<size_t>(b)];
  }
  bool written_out(SyncKind kind, Buffer b) const;
  Sequence& sequence_of(const Sync& s) {
    return sequences_[static_cast<size_t>(s.kind)][static_cast<size_t>(s.buffer)];
  }
  void write_out(const Program& program);
  void note_sync(const Sync& sync);

  std::array<int64_t, kBuffers> slots_;
  Sequences sequences_;
  int64_t last_claim_ = 0;              ///< of an output slot, by the load queue
  std::vector<int64_t> primed_claims_;  ///< by the number of the primed slot
};

}  // namespace accsim::hw
