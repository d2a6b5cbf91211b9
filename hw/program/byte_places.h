#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace accsim::hw {

/// What has bytes of its own from one step to another, both included.
struct ByteLife {
  int64_t first = 0, last = 0;
  int64_t bytes = 0;
};

/// Where they lie.
struct BytePlaces {
  std::vector<int64_t> addresses;  ///< of the first byte, by life; -1: there was no room
  int64_t end = 0;                 ///< behind the last byte of all
  int64_t left_out = 0;            ///< bytes of those that have no address
};

/// Gives addresses from 0 on, below `room`, so that no two of those that live at the same step have
/// a byte in common. It is the best of several orders of placing: few bytes are left out, and then
/// the end is low; of more than some thousand lives it is one order. Where nothing is left out, a
/// room of `end` bytes gives the same addresses. Time grows with the lives times their logarithm,
/// but for those few thousand.
BytePlaces place_bytes(std::span<const ByteLife> lives, int64_t room);

}  // namespace accsim::hw
