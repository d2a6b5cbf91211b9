#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "hw/golden/row_math.h"
#include "sim/lower/lower.h"
#include "sim/ref/array.h"

namespace accsim::sim {

/// Codes of an int8 tensor.
inline constexpr int kLowestCode = -128, kHighestCode = 127;

/// Elements of a constant tensor of the graph.
using Constants = std::function<Result<ref::Array>(TensorId id)>;

/// A function of these arguments, node by node as the reference executor computes them.
Result<std::vector<double>> evaluate_function(const Graph& graph, const UnaryFunction& function,
                                              const Constants& constants,
                                              const std::vector<double>& at);

/// Entry v + 128 is for the int8 v. It is f of v's real number as the nearest int8, with halves
/// away from the zero point. It is the zero point where f isn't a number.
Result<std::vector<int8_t>> function_table(const Graph& graph, const UnaryFunction& function,
                                           const Constants& constants,
                                           const hw::ElementScale& argument,
                                           const hw::ElementScale& result);

/// factor x + offset.
struct AffineFunction {
  double factor = 1, offset = 0;
};
/// Of an affine function, from its values at both ends of -range .. range.
Result<AffineFunction> affine_function(const Graph& graph, const UnaryFunction& function,
                                       const Constants& constants, double range);

}  // namespace accsim::sim
