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

/// A 2-D convolution of square inputs: `size` x `size` pixels.
struct SquareConv {
  int64_t images = 1, channels = 1, size = 1, outputs = 1;
  int64_t kernel = 1, stride = 1, pad = 0, dilation = 1, groups = 1;
};
inline GemmOp convolution(const SquareConv& c) {
  GemmOp op;
  const int64_t out = (c.size + 2 * c.pad - (c.kernel - 1) * c.dilation - 1) / c.stride + 1;
  op.images = c.images;
  op.batch = c.groups;
  op.grouped = c.groups > 1;
  op.channels = c.channels / c.groups;
  op.outputs = c.outputs / c.groups;
  op.in = {1, c.size, c.size};
  op.out = {1, out, out};
  op.kernel = {1, c.kernel, c.kernel};
  op.stride = {1, c.stride, c.stride};
  op.dilation = {1, c.dilation, c.dilation};
  op.pad = {0, c.pad, c.pad};
  return op;
}

}  // namespace accsim::test
