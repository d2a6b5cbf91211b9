#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/base/units.h"
#include "sim/work/port.h"

namespace accsim::sim {

/// What a VectorOp means where a vector unit's lane commands compute it: elements of at most two
/// operands put together one by one. All in elements of the tensors as they lie in memory.

/// y = f(A, B): A of operand a, or what is gathered of it; B of operand b, which copy has not. mac
/// gathers products of `a` with a weight for each tap (sim/map/product/tap_problem.h). All in the
/// order of hw::LaneOp but sub_from, which stands between: what it is depends on the operands'
/// places alone. Hashes of sweeps hold these numbers.
enum class LaneArithmetic : uint8_t { copy, add, sub, sub_from, mul, min, max, mac };
/// How the elements of `a` that make one result are put together.
enum class LaneGather : uint8_t { none, sum, mean, min, max };

/// Which elements of `a` along an axis make result o: coordinates o * stride + k * dilation - pad
/// for k < kernel, those outside [0, extent) left out; at least one is inside.
struct LaneSlide {
  int64_t extent = 1;  ///< of `a` along the axis
  int64_t kernel = 1, stride = 1, dilation = 1, pad = 0;
  /// A mean divides by the number of taps in [counted_from, counted_to).
  int64_t counted_from = 0, counted_to = 1;

  bool is_plain() const { return kernel == 1 && stride == 1 && pad == 0; }
  /// One result of all there is.
  bool is_whole_axis() const { return kernel == extent && dilation == 1 && pad == 0; }
  int64_t input_coordinate(int64_t o, int64_t k) const { return o * stride + k * dilation - pad; }
  /// Taps of result o with coordinates in [from, to): the first, and the number of them.
  struct Taps {
    int64_t first = 0, count = 0;
  };
  Taps taps_between(int64_t o, int64_t from, int64_t to) const {
    const int64_t begin = input_coordinate(o, 0);
    const int64_t first = begin >= from ? 0 : ceil_div(from - begin, dilation);
    const int64_t end = to <= begin ? 0 : std::min(kernel, ceil_div(to - begin, dilation));
    return {first, std::max<int64_t>(0, end - first)};
  }
  /// Those of them that `a` has.
  Taps taps_inside(int64_t o) const { return taps_between(o, 0, extent); }
  int64_t counted_taps(int64_t o) const { return taps_between(o, counted_from, counted_to).count; }
  /// Of an axis that is turned: two elements, the second one first.
  static LaneSlide of_turned_axis() {
    return {.extent = 2, .stride = -1, .pad = -1, .counted_to = 2};
  }

  friend bool operator==(const LaneSlide&, const LaneSlide&) = default;
};

/// An axis of the result, and where its elements lie in the operands.
struct LaneAxis {
  int64_t count = 1;
  int64_t a = 0, b = 0;  ///< strides; 0: the same again (broadcast)
  LaneSlide slide{};     ///< of `a`
  /// Of two, in a product or a copy: result o is of element 1 - o of `a`, that of o = 0 negated.
  bool turned = false;

  friend bool operator==(const LaneAxis&, const LaneAxis&) = default;
};

/// The meaning of a VectorOp. The result is dense, its axes outermost first.
struct LaneWork {
  LaneArithmetic op = LaneArithmetic::copy;
  LaneGather gather = LaneGather::none;
  ValuePort a_port = 0, b_port = ValuePort::none();
  std::vector<LaneAxis> axes;  ///< a has stride 1 along the last, or each result is `across`
  int64_t across = 1;          ///< contiguous elements of `a` that make one result together
  bool table = false;          ///< a function of one element behind all that

  bool has_b() const { return !b_port.is_none(); }

  friend bool operator==(const LaneWork&, const LaneWork&) = default;
};

}  // namespace accsim::sim
