#pragma once
#include "sim/base/result.h"
#include "sim/elaborate/scope.h"

namespace accsim::sim {

class Expander;

/// Expands one node that has subgraphs into plain nodes. Errors name the node.
using ControlFlowRule = Status (*)(const NodeCall& call, Expander& expander);

/// The rule of an If, Loop or Scan, by its operator's row; nullptr for other nodes.
ControlFlowRule find_control_flow(const NodeDef& node);

/// The branch that is taken, in place of the If. Errc::unsupported unless the condition is
/// constant.
Status expand_if(const NodeCall& call, Expander& expander);

/// The iterations of a Loop, one after the other, with the iteration's number as a constant.
/// Errc::unsupported unless trip count and condition are constant, Errc::capacity beyond
/// kMostIterations.
Status expand_loop(const NodeCall& call, Expander& expander);

/// The steps of a Scan, one after the other, each behind the Gathers that pick its slices.
/// Errc::unsupported before opset 9, Errc::capacity beyond kMostIterations.
Status expand_scan(const NodeCall& call, Expander& expander);

}  // namespace accsim::sim
