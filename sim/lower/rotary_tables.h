#pragma once
#include <vector>

#include "sim/graph/graph.h"

namespace accsim::sim {

/// By tensor id: is it read for nothing but the cosines and sines by which rotary embeddings turn?
/// So are the tables, what is picked from them, and the frequencies that nodes compute them from.
/// A turn is an operator's (its caches) or spelled out, by halves or by neighbours:
///     x cos + Concat(-b, a) sin, of pieces a and b of x;
///     a cos - b sin together with b cos + a sin.
/// `readers` is consumers(graph). No number is read: a table is known by what it is for.
std::vector<bool> find_rotary_tables(const Graph& graph,
                                     const std::vector<std::vector<NodeId>>& readers);

}  // namespace accsim::sim
