#pragma once
#include "sim/base/result.h"
#include "sim/elaborate/scope.h"

namespace accsim::sim {

class Expander;

/// Expands one node that has subgraphs, or takes or gives a sequence or an optional, into plain
/// nodes. Errors name the node.
using ControlFlowRule = Status (*)(const NodeCall& call, Expander& expander);

/// The rule of an If, Loop, Scan or an operator of sequences or optionals, by its row; nullptr for
/// other nodes.
ControlFlowRule find_control_flow(const NodeDef& node);

/// The branch that takes the place of the If. A constant condition decides, else the user's choice.
/// Else it is the branch whose shapes fit; then that with more multiply-accumulates; then that with
/// more written elements; then the then branch. The graph notes it.
Status expand_if(const NodeCall& call, Expander& expander);

/// The iterations of a Loop, one after the other, with the iteration's number as a constant. Where
/// trip count or condition aren't constant there are as many as the user gave, or else as many as
/// the trip count allows, or else one; the graph notes it. Errc::capacity beyond kMostIterations.
Status expand_loop(const NodeCall& call, Expander& expander);

/// The steps of a Scan, one after the other, each behind the Gathers that pick its slices.
/// Errc::unsupported before opset 9, Errc::capacity beyond kMostIterations.
Status expand_scan(const NodeCall& call, Expander& expander);

}  // namespace accsim::sim
