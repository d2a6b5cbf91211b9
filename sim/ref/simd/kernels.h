#pragma once
#include <cstdint>

namespace accsim::sim::ref {

/// One channel's plane under one kernel: what a depthwise convolution does for each channel.
struct PlaneConv {
  int64_t height = 0, width = 0, out_height = 0, out_width = 0;
  int64_t kernel_height = 1, kernel_width = 1, stride_y = 1, stride_x = 1;
  int64_t dilation_y = 1, dilation_x = 1, pad_y = 0, pad_x = 0;
};

/// The inner loops, compiled once for every instruction set (simd/*.cpp); the best one that the
/// processor has is chosen at run time.
struct SimdKernels {
  /// c[mr x nr] (+)= a b over k steps: a packed mr floats a step, b nr floats a step; rows of c are
  /// `c_row` apart.
  int64_t mr = 0, nr = 0;
  void (*tile)(int64_t k, const float* a, const float* b, float* c, int64_t c_row, bool add);
  /// Sum of products of n elements.
  float (*dot)(const float* a, const float* b, int64_t n);
  /// y += factor * x.
  void (*add_scaled)(float factor, const float* x, float* y, int64_t n);
  /// out = bias + in * kernel.
  void (*plane)(const PlaneConv& shape, const float* in, const float* kernel, float bias,
                float* out);
};

const SimdKernels& baseline_kernels();
/// nullptr when compiled for another processor, or when this one doesn't have the instructions.
const SimdKernels* avx2_kernels();
const SimdKernels* avx512_kernels();

}  // namespace accsim::sim::ref
