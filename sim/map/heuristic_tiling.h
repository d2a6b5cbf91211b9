#pragma once
#include <optional>

#include "sim/map/gemm_problem.h"
#include "sim/map/row_problem.h"
#include "sim/map/vector_tiling.h"

namespace accsim::sim {

/// The fixed mapping rule: one tiling an op by a few divisions, for when a search per machine is
/// too much. Weights are cut first (all channels if a block of columns then fits, as many columns
/// as do), then pixels: as many as fit the slots, but no fewer tiles than it takes to overlap
/// loads, passes and stores while a tile still fills the array; the operand whose repeated loads
/// cost less is loaded again. nullopt when not even the smallest tile fits.
std::optional<Tiling> heuristic_tiling(const GemmProblem& p, const hw::HwConfig& hw,
                                       hw::Dataflow dataflow);

/// As few chunks as let loads, work and stores overlap, or twice, four times ... as many until
/// one fits, or half as many; nullopt when nothing fits.
std::optional<VectorCut> heuristic_cut(const VectorProblem& p, const hw::HwConfig& hw);

/// The same for rows: the first tile of row_tiles() that fits.
std::optional<RowTile> heuristic_tile(const RowProblem& p, const hw::HwConfig& hw);

}  // namespace accsim::sim
