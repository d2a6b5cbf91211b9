#pragma once
#include <optional>

#include "sim/lower/layout.h"
#include "sim/lower/lower.h"
#include "sim/operators/node_view.h"

namespace accsim::sim {

/// Numbers of this magnitude and more stand for infinity: what masks take away.
inline constexpr double kAsInfinity = 1e9;

/// Has a machine elements for numbers of the type: its activations?
inline bool is_element(DType t) { return is_float(t) || (is_integer(t) && bits(t) == 8); }

/// How a node's inputs and its output lie; of constants and absent inputs anything. An input that
/// is turned lies as what it is of.
struct LaneLayouts {
  std::vector<Layout> inputs;
  Layout output;
  std::optional<TurnedPort> turned = std::nullopt;
};

/// What lane commands make of a node whose tensors lie so: arithmetic of two operands, a function
/// of one (a table), pooling, reduction, a resize to whole multiples. nullopt where they can't.
std::optional<LaneWork> lane_work(const NodeView& node, const LaneLayouts& layouts);

/// Elements of `a` that the results are made of, each once.
int64_t elements_read(const LaneWork& work);

/// Gives the vector ops of a graph laid out their meanings.
void add_lane_meanings(const Graph& graph, Lowered& lowered);

}  // namespace accsim::sim
