#pragma once
#include <optional>

#include "sim/lower/network_ends.h"

namespace accsim::sim {

/// The work of a layer that replaces some of a cache (OpRow::updates), where the cache stays where
/// it is: only what replaces it is read and written. That is so where the network is given the
/// cache, gives it back, and nobody else reads it as it was; views may lie between. It is always so
/// of an operator that is made for it, whose work doesn't read the cache. nullopt: a copy is made.
/// The result lies as the cache does in `layouts`.
std::optional<Work> update_in_place(const Graph& graph, const Layer& layer, const NetworkEnds& ends,
                                    const std::vector<Layout>& layouts);

}  // namespace accsim::sim
