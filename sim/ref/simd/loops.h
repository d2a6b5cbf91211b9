#pragma once
#include <cstdint>

#include "sim/ref/simd/kernels.h"

/// The loops behind SimdKernels, for vectors of kLanes floats. Each including file is compiled for
/// another instruction set, so everything is a template of `Isa`, a type that only that file has:
/// code of one file can never be taken for another's by the linker.
namespace accsim::sim::ref::simd {

template <class Isa>
struct Vector {
  typedef float Type __attribute__((vector_size(Isa::kLanes * sizeof(float))));
};

template <class Isa>
void tile(int64_t k, const float* a, const float* b, float* c, int64_t c_row, bool add) {
  using V = typename Vector<Isa>::Type;
  constexpr int kRows = Isa::kRows, kColumns = Isa::kColumns, kLanes = Isa::kLanes;
  V sum[kRows][kColumns] = {};
  for (int64_t p = 0; p < k; ++p, a += kRows, b += kColumns * kLanes) {
    V right[kColumns];
    __builtin_memcpy(&right, b, sizeof(right));
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < kColumns; ++j) sum[i][j] += a[i] * right[j];
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i, c += c_row)
#pragma GCC unroll 4
    for (int j = 0; j < kColumns; ++j) {
      if (add) {
        V old;
        __builtin_memcpy(&old, c + j * kLanes, sizeof(V));
        sum[i][j] += old;
      }
      __builtin_memcpy(c + j * kLanes, &sum[i][j], sizeof(V));
    }
}

template <class Isa>
float dot(const float* a, const float* b, int64_t n) {
  using V = typename Vector<Isa>::Type;
  constexpr int64_t kLanes = Isa::kLanes, kStep = 4 * kLanes;
  V sum[4] = {};
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep)
#pragma GCC unroll 4
    for (int s = 0; s < 4; ++s) {
      V x, y;
      __builtin_memcpy(&x, a + i + s * kLanes, sizeof(V));
      __builtin_memcpy(&y, b + i + s * kLanes, sizeof(V));
      sum[s] += x * y;
    }
  const V all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  float total = 0;
  for (int64_t l = 0; l < kLanes; ++l) total += all[l];
  for (; i < n; ++i) total += a[i] * b[i];
  return total;
}

template <class Isa>
void add_scaled(float factor, const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

template <class Isa>
void plane(const PlaneConv& s, const float* in, const float* kernel, float bias, float* out) {
  for (int64_t y = 0; y < s.out_height; ++y, out += s.out_width) {
    for (int64_t x = 0; x < s.out_width; ++x) out[x] = bias;
    for (int64_t ky = 0; ky < s.kernel_height; ++ky) {
      const int64_t row = y * s.stride_y + ky * s.dilation_y - s.pad_y;
      if (row < 0 || row >= s.height) continue;
      for (int64_t kx = 0; kx < s.kernel_width; ++kx) {
        const float w = kernel[ky * s.kernel_width + kx];
        const int64_t shift = kx * s.dilation_x - s.pad_x;
        // Outputs whose input column lies inside the row.
        const int64_t first = shift >= 0 ? 0 : (-shift + s.stride_x - 1) / s.stride_x;
        const int64_t room = s.width - 1 - shift;
        const int64_t last =
            room < 0 ? 0
                     : (room / s.stride_x + 1 < s.out_width ? room / s.stride_x + 1 : s.out_width);
        const float* from = in + row * s.width + shift;
        if (s.stride_x == 1)
          for (int64_t x = first; x < last; ++x) out[x] += w * from[x];
        else if (s.stride_x == 2)
          for (int64_t x = first; x < last; ++x) out[x] += w * from[2 * x];
        else
          for (int64_t x = first; x < last; ++x) out[x] += w * from[x * s.stride_x];
      }
    }
  }
}

template <class Isa>
constexpr SimdKernels kernels() {
  return {Isa::kRows, Isa::kColumns * Isa::kLanes, tile<Isa>, dot<Isa>, add_scaled<Isa>,
          plane<Isa>};
}

}  // namespace accsim::sim::ref::simd
