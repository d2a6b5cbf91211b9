#pragma once
#include <optional>

#include "sim/map/product/gemm_problem.h"

namespace accsim::sim {

/// The fixed mapping rule: one tiling per op by a few divisions, for when a search per machine is
/// too much. Weights are cut first: all channels if a block of columns then fits, and as many
/// columns as do. Then pixels are cut: as many as fit the slots, but in enough tiles that loads,
/// passes and stores overlap while a tile still fills the array. The operand whose repeated loads
/// cost less is loaded again. nullopt when not even the smallest tile fits.
std::optional<Tiling> heuristic_tiling(const GemmProblem& p, const hw::HwConfig& hw,
                                       hw::Dataflow dataflow);

}  // namespace accsim::sim
