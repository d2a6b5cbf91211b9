#pragma once
#include <span>
#include <string_view>

#include "hw/program/program.h"
#include "sim/base/inline_vector.h"
#include "sim/map/tile_segments.h"

namespace accsim::sim {

/// The emitters describe a program once; a sink makes of it what is wanted: the program itself, or
/// only what it costs. Every sink sees the same loops, sizes and tokens in the same order.
/// Addresses and the rest of a command are filled in by a callback, which only the sink that needs
/// them calls.

/// Loops at whose first iterations an accumulator is overwritten; ids are the sink's.
using LoopSet = InlineVector<int, 8>;

/// The part of a GemmCommand or DrainCommand that costs follow from.
struct PassSizes {
  int64_t m = 0, k = 0, n = 0;  ///< a drain has no k
  int64_t useful_macs = 0;
  LoopSet first_of{};
  bool accumulate = false;
  hw::Encoding weights{};
};

/// The part of a PostCommand that costs follow from.
struct PostSizes {
  int64_t rows = 0, cols = 0;
  bool transposed = false, has_parameters = false;
  int64_t groups = 1;
  bool residual = false;
  bool table = false;
};

/// An address that doesn't exist.
struct NoAddress {
  NoAddress() = default;
  NoAddress(int64_t) {}
  void add_term(int, int64_t) {}
  NoAddress& operator+=(NoAddress) { return *this; }
  friend NoAddress operator+(NoAddress a, NoAddress) { return a; }
  friend NoAddress operator*(NoAddress a, int64_t) { return a; }
};

/// A start of tiles of `step`, which divides it with all its terms, by that step.
inline hw::Affine divide(hw::Affine a, int64_t step) {
  a.base /= step;
  for (hw::Affine::Term& term : a.terms) term.coeff /= step;
  return a;
}
inline NoAddress divide(NoAddress a, int64_t) { return a; }

/// Calls `inner(segment, start, loop)` for every segment, in a loop where the segment repeats: its
/// first element as an address, and the loop's id (-1 without one).
template <class Sink, class Inner>
void for_segments(Sink& sink, std::string_view name, std::span<const Segment> segments,
                  Inner inner) {
  for (const Segment& s : segments) {
    typename Sink::Address start(s.start);
    if (s.count == 1) {
      inner(s, start, -1);
      continue;
    }
    sink.add_loop(name, s.count, [&](int loop) {
      start.add_term(loop, s.step);
      inner(s, start, loop);
    });
  }
}

}  // namespace accsim::sim
