#pragma once
#include <random>

#include "sim/ops/work.h"

namespace accsim::test {

/// M x K x N product.
inline GemmOp product(int64_t m, int64_t k, int64_t n) {
  GemmOp op;
  op.in = op.out = {1, 1, m};
  op.channels = k;
  op.outputs = n;
  return op;
}

/// 2-D convolution of `images` square `size` x `size` inputs.
inline GemmOp convolution(int64_t images, int64_t channels, int64_t size, int64_t outputs,
                          int64_t kernel, int64_t stride, int64_t pad, int64_t dilation = 1,
                          int64_t groups = 1) {
  GemmOp op;
  const int64_t out = (size + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
  op.images = images;
  op.batch = groups;
  op.grouped = groups > 1;
  op.channels = channels / groups;
  op.outputs = outputs / groups;
  op.in = {1, size, size};
  op.out = {1, out, out};
  op.kernel = {1, kernel, kernel};
  op.stride = {1, stride, stride};
  op.dilation = {1, dilation, dilation};
  op.pad = {0, pad, pad};
  return op;
}

/// A product, batched product, convolution (grouped, dilated, strided, padded) or 3-D convolution.
inline GemmOp random_gemm(std::mt19937& random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  const int64_t kind = pick(0, 4);
  if (kind == 0) return product(pick(1, 60), pick(1, 60), pick(1, 60));
  if (kind == 1) {
    GemmOp op = product(pick(1, 20), pick(1, 30), pick(1, 30));
    op.batch = pick(2, 4);
    op.a_shared = pick(0, 3) == 0;
    op.b_shared = !op.a_shared && pick(0, 3) == 0;
    op.a_transposed = pick(0, 3) == 0;
    op.b_transposed = pick(0, 3) == 0;
    return op;
  }
  const int64_t kernel = pick(1, 5), dilation = pick(1, 3), stride = pick(1, 3);
  const int64_t reach = (kernel - 1) * dilation + 1;
  const int64_t size = std::max<int64_t>(1, reach - 2) + pick(2, 9);
  const int64_t groups = kind == 2 ? pick(2, 12) : 1;
  GemmOp op = convolution(pick(1, 3), groups * pick(1, 10), size, groups * pick(1, 12), kernel,
                          stride, pick(0, kernel - 1), dilation, groups);
  if (kind == 3 && op.images == 1) {
    op.in[0] = pick(3, 5);
    op.kernel[0] = pick(1, 3);
    op.pad[0] = pick(0, 1);
    op.out[0] = op.in[0] + 2 * op.pad[0] - op.kernel[0] + 1;
  }
  return op;
}

}  // namespace accsim::test
