#pragma once
#include <array>
#include <optional>

#include "sim/lower/lower.h"
#include "sim/map/mapper.h"

namespace accsim::sim {

/// Integers of several bytes that a layer compares with a constant, on a machine of int8: two
/// integers are equal when all their bytes are. Lane commands say first which bytes differ (1, else
/// 0), then for each integer whether none does.
struct ComparedBytes {
  ValuePort port = 0, constant_port = 1;  ///< inputs of the layer
  int64_t integers = 0, bytes = 0;        ///< compared ones, and bytes of each
};

/// What the layer compares so; nullopt where it does anything else.
std::optional<ComparedBytes> compared_bytes(const Graph& graph, const Layer& layer);

/// Both steps as requests; `layer` is the layer's own, with the places of its ports.
std::array<OpRequest, 2> compare_requests(const ComparedBytes& c, OpRequest layer);

/// Entries of their tables: whether a byte differs by v, and whether the most that bytes do is v.
std::array<int8_t, 256> difference_table();
std::array<int8_t, 256> equality_table();

}  // namespace accsim::sim
