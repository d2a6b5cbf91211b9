#pragma once
#include <vector>

#include "sim/ref/kernel_context.h"

namespace accsim::sim::ref {

/// round(v / scale) + zero, ties to even, saturated to the integer type.
double quantized(double v, double scale, double zero, DType type);
/// (v - zero) * scale of every element, scale and zero being scalars.
std::vector<double> dequantized(const KernelContext& step, size_t value, size_t scale, size_t zero);
/// Gives output 0 these numbers, quantised by the scalars in inputs `scale` and `zero`.
void put_quantized(KernelContext& step, const std::vector<double>& values, size_t scale,
                   size_t zero);

}  // namespace accsim::sim::ref
