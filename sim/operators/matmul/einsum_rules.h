#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/operators/node_view.h"

namespace accsim::sim {

/// Einsum's equation. A label is its letter; the dims of an ellipsis are 256 + their place from the
/// right.
struct EinsumEquation {
  std::vector<std::vector<int>> terms;
  std::vector<int> output;
  std::map<int, int64_t> size;
};
/// Parsed and checked against the inputs' shapes.
Result<EinsumEquation> parse_einsum(const NodeView& node);
/// The order of the axes (attribute perm of a Transpose), if the equation only reorders the axes of
/// its one operand. nullopt for other equations, and for texts that are none.
std::optional<std::vector<int64_t>> einsum_permutation(const NodeView& node);

}  // namespace accsim::sim
