#pragma once
#include <optional>

#include "sim/lower/layout.h"
#include "sim/operators/node_view.h"
#include "sim/operators/op_table.h"
#include "sim/work/lane_work.h"

namespace accsim::sim {

/// Does a rule put several elements of one operand together, or pick some of them?
bool gathers(LaneRule rule);

/// What lane commands make of a node whose rule gathers: pooling, reduction, a resize to whole
/// multiples. `in` and `out` say how its first input and its output lie. nullopt where they can't.
std::optional<LaneWork> gather_lanes(const NodeView& node, const OpRow& row, const Layout& in,
                                     const Layout& out);

}  // namespace accsim::sim
