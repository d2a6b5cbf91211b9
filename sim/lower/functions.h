#pragma once
#include <vector>

#include "sim/graph/graph.h"
#include "sim/lower/lower.h"

namespace accsim::sim {

/// Finds regions of pointwise nodes (OpRow::pointwise) that are functions of one tensor of floats.
/// Each node reads only the argument, results of the region, or constants of one element. Only the
/// last tensor of the region is read from outside. Regions are as large as can be, none share a
/// node, and they are in the order of their last nodes. A single clip at zero is none, as the work
/// before it takes it over. `readers`: consumers(graph).
std::vector<UnaryFunction> find_functions(const Graph& graph,
                                          const std::vector<std::vector<NodeId>>& readers);

/// UnaryFunction::work of its argument and nodes; no operations where those of a node can't be
/// counted.
VectorOp work_of(const Graph& graph, const UnaryFunction& function);

/// Is it a clip whose lower bound is zero, as far as is known?
bool clips_at_zero(const Graph& graph, const Node& node);

/// Is a node of a UnaryFunction c x + d of what it reads, floats in and out?
bool is_affine(const Graph& graph, const Node& node);

/// Is the node a sum, a difference, a product or a quotient of two tensors?
bool is_arithmetic(const Node& node);

/// Is the node work in the place of an operator of the file that is no product (an interpolation, a
/// move)? Its MACs aren't the network's, its constants no parameters.
bool stands_for_no_product(const Node& node);

/// Is the function c x of a positive c that is known: the same codes in int8, with another scale?
bool is_rescaling(const Graph& graph, const UnaryFunction& function);

}  // namespace accsim::sim
