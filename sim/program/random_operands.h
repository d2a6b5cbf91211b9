#pragma once
#include <random>
#include <vector>

#include "sim/pack/operand_layout.h"

namespace accsim::sim {

/// Random operands of a product, all that its problem asks for; `weights` where they have its size.
/// Channels mostly have a scale that spreads the sums over int8, some the ends of what a descriptor
/// can say.
GemmOperands random_operands(const GemmProblem& p, const std::vector<int8_t>& weights,
                             std::mt19937& random);

}  // namespace accsim::sim
