#pragma once
#include <cstdint>
#include <functional>

#include "sim/ref/eigen/multiply_add.h"
#include "sim/ref/thread_pool.h"

namespace accsim::sim::ref {

/// The product that this processor runs fastest.
MultiplyAddFunction best_multiply_add();

/// c[m x n] = a[m x k] b[k x n] + row_bias, in single precision.
struct FloatProduct {
  /// m, k, n may be 0; the strides as there.
  MultiplyAdd operands;
  /// Instead of operands.b: writes rows [p, p + rows) and columns [j, j + columns) of b to `to`,
  /// rows `width` floats apart. Called from several threads.
  std::function<void(int64_t p, int64_t rows, int64_t j, int64_t columns, float* to, int64_t width)>
      write_b;
  const float* row_bias = nullptr;  ///< m of them, or none
};

/// The product in strips of rows or columns, shared out over the pool. Strips depend on the sizes
/// alone, so results don't depend on the number of threads.
void float_product(ThreadPool& pool, const FloatProduct& task,
                   MultiplyAddFunction multiply_add = best_multiply_add());

}  // namespace accsim::sim::ref
