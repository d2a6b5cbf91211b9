#pragma once
#include <utility>
#include <vector>

#include "sim/map/lanes/lane_problem.h"
#include "sim/map/product/gemm_problem.h"

namespace accsim::sim {

/// A depthwise convolution on the lanes of the vector unit (TapTiling): a lane command weighs
/// the taps of a channel, and scales their sum as a post does. Values are those of the array.
/// Operands lie in memory as they do for the array's packed groups.

/// Can the machine's lanes compute it? Of a channel and an output to a group, int8 by int8, without
/// anything to add, where each result has at least one tap that isn't padding.
bool weighs_taps(const GemmProblem& p, const hw::HwConfig& hw);

/// Its lines, pixels and channels as axes of lane commands. `repeated`: so are the weights of each
/// pixel of a tile.
LaneProblem tap_lanes(const GemmProblem& p, const TapTiling& t);

/// Do the largest tiles fit into the slots?
bool taps_fit(const GemmProblem& p, const hw::HwConfig& hw, const TapTiling& t);

/// Every tiling on the lanes that is tried and fits, with a bound of its cycles, the best first.
std::vector<std::pair<int64_t, TapTiling>> tap_tilings(const GemmProblem& p,
                                                       const hw::HwConfig& hw);

}  // namespace accsim::sim
