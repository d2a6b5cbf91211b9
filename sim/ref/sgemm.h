#pragma once
#include <cstdint>
#include <functional>

#include "sim/ref/simd/kernels.h"
#include "sim/ref/thread_pool.h"

namespace accsim::sim::ref {

/// The kernels that this processor runs fastest.
const SimdKernels& simd_kernels();

/// c[m x n] = a[m x k] b[k x n] + row_bias, in single precision.
struct Sgemm {
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;  ///< element (i, p) at i * a_row + p * a_column
  int64_t a_row = 0, a_column = 1;
  const float* b = nullptr;  ///< element (p, j) at p * b_row + j * b_column
  int64_t b_row = 0, b_column = 1;
  /// Instead of b: writes rows [p, p + rows) and columns [j, j + columns) to `to`, rows `width`
  /// floats apart. Called from several threads.
  std::function<void(int64_t p, int64_t rows, int64_t j, int64_t columns, float* to, int64_t width)>
      pack_b;
  float* c = nullptr;  ///< row-major
  int64_t c_row = 0;
  const float* row_bias = nullptr;  ///< m of them, or none
};

/// Blocked as Goto and van de Geijn do it: panels of a and b are copied into the order in which the
/// inner kernel reads them. Sums over k are cut into the same blocks whatever the number of
/// threads.
void sgemm(ThreadPool& pool, const Sgemm& task, const SimdKernels& kernels = simd_kernels());

}  // namespace accsim::sim::ref
