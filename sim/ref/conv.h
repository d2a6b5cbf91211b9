#pragma once
#include "sim/operators/conv/conv_rules.h"
#include "sim/ref/kernel_context.h"

namespace accsim::sim::ref {

/// A convolution on N, C, spatial arrays: x and w as ConvShape says, bias one an output channel or
/// null. Floats by float_product(), doubles (which integers are converted to, exactly) by Eigen.
void convolve(ThreadPool& pool, const ConvShape& shape, const float* x, const float* w,
              const float* bias, float* out);
void convolve(ThreadPool& pool, const ConvShape& shape, const double* x, const double* w,
              const double* bias, double* out);

/// An error unless input i, the weights' zero point, is absent, one number or one an output
/// channel.
Status check_weight_zero(const NodeView& node, const ConvShape& shape, size_t i);
/// The product of the quantised convolutions: sums of (x - x_zero) * (w - w_zero[channel]), exact.
std::vector<double> convolve_integers(KernelContext& step, const ConvShape& shape,
                                      const ConvPorts& ports, double x_zero,
                                      const std::vector<double>& w_zero);

}  // namespace accsim::sim::ref
