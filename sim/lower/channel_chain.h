#pragma once
#include <optional>
#include <vector>

#include "sim/lower/node_rewrites.h"

namespace accsim::sim {

/// Does the node make each element of its one result of the element that `of` has there, and of
/// constants of one element, or of one a channel (dim 1)? Activations do, BatchNormalization,
/// sums with constants.
bool works_on_channels(const Graph& graph, const Node& node, TensorId of);

/// The nodes that read one another behind a tensor, nobody else between them, and work on channels.
std::vector<NodeId> channel_chain_behind(const NodeRewrites& rewrites, TensorId of);

/// The node's inputs, `to` in the place of `of`, its constants of channels in an order of these.
std::vector<TensorId> inputs_in_order(RebuiltGraph& graph, const Node& node, TensorId of,
                                      TensorId to, const std::vector<int64_t>& order);

/// Is it a convolution (weights by output channel) whose weights and bias are constant? One
/// group of channels makes all of them.
bool is_fixed_convolution(const Graph& graph, const Node& node);

/// The convolution's inputs with its output channels in an order.
std::vector<TensorId> convolution_in_order(RebuiltGraph& graph, const Node& node,
                                           const std::vector<int64_t>& order);

}  // namespace accsim::sim
