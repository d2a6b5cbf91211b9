#pragma once
#include <span>
#include <vector>

#include "sim/pack/operand_layout.h"

namespace accsim::sim {

/// Tensors of a product that an earlier layer computes.
struct ComputedOperands {
  std::span<const int8_t> a;
  bool a_in_memory = false;  ///< `a` lies as the op says, not as GemmOperands::a does
  std::span<const int8_t> weights;
  std::span<const int8_t> residual;
};

/// The result of a product by the integer reference (sim/ref/integer_product.h), by the problem's
/// numbers and the operands' channels, scales and table.
std::vector<int8_t> reference_product(const GemmProblem& p, const GemmOperands& operands,
                                      const ComputedOperands& computed);
/// The same of operands that are all there.
std::vector<int8_t> reference_product(const GemmProblem& p, const GemmOperands& operands);

}  // namespace accsim::sim
