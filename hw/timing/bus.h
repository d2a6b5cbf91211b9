#pragma once
#include <array>
#include <cstdint>

namespace accsim::hw {

/// The data bus of a DRAM that reads and writes share: when it is busy, and which way. Transfers
/// are given to it in the order of the program's text; each takes the first times from when it is
/// ready on that are free, in pieces where it must. So the bus is never idle while a transfer
/// waits for it, the one that is there first has it, and of those that are there at once the one
/// that comes first in the text: where another one's time comes, the one that had it goes on
/// behind that.
///
/// Between pieces of different directions the bus idles for a turn. Of the times between two
/// transfers those that are too short to turn into and back aren't used, nor those before the
/// kGaps last ones. All times are ticks, and later all together make everything later alike.
class Bus {
 public:
  static constexpr int64_t kLongestTurn = int64_t{1} << 20;  ///< ticks

  /// What a transfer asks for.
  struct Use {
    int64_t time;      ///< > 0
    int64_t to, from;  ///< turns: from the other direction to this one, and back; < kLongestTurn
    bool write;
  };
  struct Slot {
    int64_t begin, end;  ///< of its first, and last, piece
    bool behind_write;   ///< the direction of what had the bus before
  };
  /// `ready` >= 0.
  Slot take(const Use& use, int64_t ready);

  /// Whether everything has grown by that since `before`. What lies before `floor`, and so is of no
  /// use to anybody who asks from there on, may also be as it was.
  bool has_grown(const Bus& before, int64_t growth, int64_t floor) const;
  /// Makes what has changed since `before` later; there all that has has grown.
  void move_later(const Bus& before, int64_t ahead);
  /// Counts from a floor on, below which no transfer will be ready any more.
  void rebase(int64_t floor);

  /// Of everything that later times depend on.
  template <class Key>
  void add_to(Key& key) const {
    key.add(free_, write_, count_);
    for (uint32_t i = 0; i < count_; ++i)
      key.add(gaps_[i].begin, gaps_[i].end, gaps_[i].write_before, gaps_[i].write_after);
  }

 private:
  static constexpr uint32_t kGaps = 4;
  struct Gap {
    int64_t begin, end;
    bool write_before, write_after;
    friend bool operator==(const Gap&, const Gap&) = default;
  };
  void keep_gap(const Gap& gap, const Use& use);

  std::array<Gap, kGaps> gaps_{};  ///< in order of time
  uint32_t count_ = 0;
  bool write_ = false;            ///< what had it last
  int64_t free_ = -kLongestTurn;  ///< from when on it is free for ever
};

}  // namespace accsim::hw
