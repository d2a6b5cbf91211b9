#pragma once
#include <optional>
#include <span>
#include <vector>

#include "sim/lower/lower.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// A tensor's axes as they lie in memory, outermost first; strides are in the row-major index of
/// its dims.
using MemoryAxes = std::vector<MoveAxis>;

/// How what the meaning is of lies in memory: channels last where it has channel_axes, else in the
/// order of its dims.
MemoryAxes memory_axes(const RowMeaning& meaning);

/// The rows as they lie in memory. Nothing where no RowCommand can say it: rows nested deeper than
/// kRowLevels, or channels that don't follow one another within a run.
std::optional<RowWork> row_work(const RowMeaning& meaning, std::span<const MoveAxis> memory);

/// Says of every VectorOp whose layer's operator has a rule for it (OpRow::rows) what it does with
/// rows; not where something has been merged into it that a command of rows doesn't do.
void set_row_work(const Graph& graph, Lowered& lowered);

}  // namespace accsim::sim
