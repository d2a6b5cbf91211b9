#pragma once
#include <span>
#include <vector>

#include "sim/ref/kernel_context.h"

namespace accsim::sim::ref {

/// round(v / scale) + zero, ties to even, saturated to the integer type; of NaN its least, as ONNX
/// Runtime has it.
double quantized_value(double v, double scale, double zero, DType type);
/// The factor from sums of integer products to steps of the result, a_scale * b_scale / y_scale in
/// single precision, as ONNX Runtime takes it. Which way a half is rounded depends on that.
float step_factor(double a_scale, double b_scale, double y_scale);
/// round(sum * factor) + zero, as `quantized`; the product in single precision. `sum` is whole.
double requantized_sum(double sum, float factor, double zero, DType type);
/// The integer of the type nearest to v, of two the even one.
double nearest_integer(float v, DType type);
/// Scale and zero point of uint8 numbers; the scale is 0 where all are.
struct FoundScale {
  double scale = 0, zero = 0;
};
/// Those that DynamicQuantizeLinear finds: the values' range with 0, in 255 steps.
FoundScale found_scale(std::span<const double> values);
/// What the integers of their found scale stand for.
void round_to_found_scale(std::span<double> values);
/// (v - zero) * scale of every element, scale and zero being scalars.
std::vector<double> dequantized_input(const KernelContext& step, size_t value, size_t scale,
                                      size_t zero);
/// Gives output 0 these numbers, quantised by the scalars in inputs `scale` and `zero`.
void put_quantized(KernelContext& step, const std::vector<double>& values, size_t scale,
                   size_t zero);

}  // namespace accsim::sim::ref
