#pragma once
#include "sim/work/work.h"

namespace accsim::test {

using namespace sim;

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

}  // namespace accsim::test
