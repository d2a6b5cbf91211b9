#pragma once
#include <cstdint>

namespace accsim::sim::ref {

/// c[m x n] += a[m x k] b[k x n] in single precision. All sizes are at least 1.
struct MultiplyAdd {
  int64_t m = 0, k = 0, n = 0;
  const float* a = nullptr;
  int64_t a_stride = 0;   ///< floats between rows of a as it lies
  bool a_turned = false;  ///< a lies as k x m
  const float* b = nullptr;
  int64_t b_stride = 0;   ///< floats between rows of b as it lies
  bool b_turned = false;  ///< b lies as n x k
  float* c = nullptr;     ///< row-major
  int64_t c_stride = 0;   ///< floats between rows of c
};

/// Eigen's product, built once for every instruction set (the .cpp files beside this one). An
/// element's value depends on the sizes and the operands alone, not on where they lie.
using MultiplyAddFunction = void (*)(const MultiplyAdd&);

/// The one for any processor of the family.
MultiplyAddFunction multiply_add_baseline();
/// The one for AVX2 and FMA; nullptr when compiled for another processor, or when this one doesn't
/// have the instructions.
MultiplyAddFunction multiply_add_avx2();
/// The one for AVX-512 (F, VL, DQ), or nullptr likewise.
MultiplyAddFunction multiply_add_avx512();

}  // namespace accsim::sim::ref
