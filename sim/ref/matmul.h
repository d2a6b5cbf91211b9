#pragma once
#include <vector>

#include "sim/ref/kernel_context.h"

namespace accsim::sim::ref {

/// NumPy's matmul on doubles; integers up to 32 bits come out exact. Precondition: shapes fit.
std::vector<double> matmul_reals(KernelContext& step, const std::vector<double>& a,
                                 const Dims& a_dims, const std::vector<double>& b,
                                 const Dims& b_dims);

/// Takes zero points off a matrix: one for all, one a row (`rows`), or one a column.
void subtract_zero(std::vector<double>& values, const Dims& dims, const std::vector<double>& zero,
                   bool rows);

/// Gemm on inputs 0, 1 and 2; com.microsoft's FusedGemm starts with it.
Status gemm_kernel(KernelContext& step);

}  // namespace accsim::sim::ref
