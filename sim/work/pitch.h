#pragma once
#include <cstdint>

namespace accsim::sim {

/// How a tensor that is a part of another one lies in it: rows of `run` elements (or bytes), each
/// `pitch` behind the one before. Without a run all of it is one row.
struct Pitch {
  int64_t run = 0, pitch = 0;

  bool is_dense() const { return run == 0; }
  /// Where the element of an index lies, from the first one on; of indices below 0, too.
  int64_t offset_of(int64_t index) const {
    if (is_dense()) return index;
    const int64_t in_row = (index % run + run) % run;
    return (index - in_row) / run * pitch + in_row;
  }
  /// What so many elements take, from the first to the last.
  int64_t extent_of(int64_t elements) const {
    return elements < 1 ? 0 : offset_of(elements - 1) + 1;
  }
  /// The same in units of which an element has `bytes`.
  Pitch scaled_by(int64_t bytes) const { return {run * bytes, pitch * bytes}; }
  /// The stride of steps that lead from row to row, or are shorter than one.
  int64_t stride_of(int64_t step) const {
    return is_dense() || step % run != 0 ? step : step / run * pitch;
  }

  friend bool operator==(const Pitch&, const Pitch&) = default;
};

}  // namespace accsim::sim
