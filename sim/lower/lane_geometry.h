#pragma once
#include <optional>
#include <vector>

#include "sim/work/lane_work.h"

namespace accsim::sim {

/// A dim of a lane op: indices of the result, and elements from one to the next in each tensor.
struct LaneDim {
  int64_t count = 1;  ///< of the result
  int64_t out = 1;    ///< stride of the result
  int64_t a = 0, b = 0;
  LaneSlide slide{};    ///< of `a`
  bool turned = false;  ///< as LaneAxis has it

  /// One that `a` has as the result has it.
  static LaneDim of_strides(int64_t count, int64_t out, int64_t a, int64_t b = 0) {
    return {count, out, a, b, {.extent = count, .counted_to = count}};
  }
  /// Two whose elements are each other's.
  static LaneDim of_turned(int64_t out, int64_t a, int64_t b) {
    return {2, out, a, b, LaneSlide::of_turned_axis(), true};
  }
};

/// The meaning with axes made of its dims, which come in any order. Axes are in the order of
/// memory, and joined if they go on in all tensors. Operands are swapped if only the second one is
/// contiguous. nullopt if lane commands can't do it: the result isn't dense, an operand isn't
/// contiguous along its innermost axis, or windows slide over three axes.
std::optional<LaneWork> lane_axes(LaneWork meaning, std::vector<LaneDim> dims);

}  // namespace accsim::sim
