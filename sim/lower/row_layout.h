#pragma once
#include <optional>
#include <span>
#include <vector>

#include "sim/lower/lower.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// How what lives only in a layer lies: channels last where it has channel_axes, else in the order
/// of its dims.
Layout memory_axes(const RowMeaning& meaning);

/// The rows as they lie in memory. Nothing where no RowCommand can say it: rows nested deeper than
/// kRowLevels, or channels that don't follow one another within a run.
std::optional<RowWork> row_work(const RowMeaning& meaning, const Layout& memory);

/// Elements of the mask of `w`, which has one, from its first to the last that the rows reach.
int64_t mask_elements(const RowWork& w);

/// Says of the VectorOps of a graph laid out whose layer's operator has a rule for it
/// (OpRow::rows), or whose nodes spell it out, what they do with rows.
void set_row_work(const Graph& graph, Lowered& lowered);

}  // namespace accsim::sim
