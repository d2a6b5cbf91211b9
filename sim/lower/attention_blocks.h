#pragma once
#include "sim/graph/graph.h"

namespace accsim::sim {

/// The graph with attention over at least two times `keys` keys done in blocks of about as many
/// (online softmax): each block has scores, a softmax and a product with its values of its own, and
/// the logarithm of its sum of exponentials says what part of the result it is:
///
///   softmax(s) v = sum over blocks b of w_b (softmax(s_b) v_b),  w = softmax over b of lse(s_b)
///
/// Equal on real numbers; of the same tensors and, but for those, the same nodes. Sources: Milakov
/// and Gimelshein, "Online normalizer calculation for softmax" (2018); Dao et al., FlashAttention
/// (2022), sections 3.1 and B.
Graph in_key_blocks(const Graph& graph, int64_t keys);

/// At most so many nodes has the graph in such blocks.
int64_t nodes_in_key_blocks(const Graph& graph, int64_t keys);

}  // namespace accsim::sim
