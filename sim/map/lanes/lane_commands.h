#pragma once
#include <functional>
#include <vector>

#include "sim/map/lanes/lane_problem.h"

namespace accsim::sim {

/// The commands of one tile of a lane op, and where its tensors' elements lie in the slots. A tile
/// is a Segment for each axis; in a slot its elements are dense, axis by axis, but for axes along
/// which an operand is the same and isn't repeated.

/// A tensor of a lane op.
enum class LaneSide : uint8_t { a, b, out };

/// Results one behind the other along an axis whose taps are the same ones, and whose sign is.
struct LaneRun {
  int64_t first = 0, count = 1;  ///< results
  LaneSlide::Taps taps{0, 1};
  int64_t counted = 1;  ///< what a mean divides by
};
/// Those of results `first` .. first + count - 1.
std::vector<LaneRun> lane_runs(const LaneAxis& axis, int64_t first, int64_t count, bool mean);

/// Bytes from one index of an axis to the next in a slot that holds a tile; 0: the same again.
int64_t slot_stride(const LaneProblem& p, const std::vector<Segment>& tile, LaneSide side,
                    size_t axis);

/// What of a tensor makes a tile; `whole` is the result's own tile of all there is.
hw::Walk lane_walk(const LaneProblem& p, const std::vector<Segment>& tile, LaneSide side,
                   const std::vector<Segment>& whole = {});

/// A command without addresses, and where in its operands' and result's tiles it begins.
struct LanePart {
  hw::LaneCommand command;
  int64_t a = 0, b = 0, out = 0;  ///< bytes
  int64_t weights = 0;            ///< of a mac: bytes of `b` before its first tap's
};

/// A tile of the result, the tile of the second operand that its slot holds, and whether that is a
/// parameter slot.
struct LaneTile {
  const std::vector<Segment>&tile, &b;
  bool b_held;
};

/// Calls `each` for the commands of a tile, of which there are as many as results differ in the
/// taps that they have. Where windows overlap, rows slide in the way that takes the fewest cycles.
void for_lane_commands(const LaneProblem& p, const hw::HwConfig& hw, const LaneTile& tile,
                       const std::function<void(const LanePart&)>& each);

}  // namespace accsim::sim
