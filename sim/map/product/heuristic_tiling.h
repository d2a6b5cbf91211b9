#pragma once
#include <optional>

#include "sim/map/product/gemm_problem.h"

namespace accsim::sim {

/// The fixed mapping rule: one tiling an op by a few divisions, for when a search per machine is
/// too much. Weights are cut first (all channels if a block of columns then fits, as many columns
/// as do), then pixels: as many as fit the slots, but no fewer tiles than it takes to overlap
/// loads, passes and stores while a tile still fills the array; the operand whose repeated loads
/// cost less is loaded again. nullopt when not even the smallest tile fits.
std::optional<Tiling> heuristic_tiling(const GemmProblem& p, const hw::HwConfig& hw,
                                       hw::Dataflow dataflow);

}  // namespace accsim::sim
