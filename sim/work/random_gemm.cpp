#include "sim/work/random_gemm.h"

#include <algorithm>

namespace accsim::sim {
namespace {

int64_t uniform_between(std::mt19937& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

GemmOp random_product(std::mt19937& random) {
  GemmOp op;
  op.in = op.out = {1, 1, uniform_between(random, 0, 7) == 0 ? 1 : uniform_between(random, 1, 60)};
  op.channels = uniform_between(random, 1, 80);
  op.outputs = uniform_between(random, 1, 80);
  if (uniform_between(random, 0, 1) == 0) return op;
  op.batch = uniform_between(random, 2, 4);
  op.a_shared = uniform_between(random, 0, 3) == 0;
  op.b_shared = !op.a_shared && uniform_between(random, 0, 3) == 0;
  op.a_transposed = uniform_between(random, 0, 3) == 0;
  op.b_transposed = uniform_between(random, 0, 3) == 0;
  return op;
}

/// One dimension of a convolution's window.
struct Window {
  int64_t kernel, stride, dilation, pad, out;
};

void set_window(GemmOp& op, size_t dim, const Window& w) {
  op.kernel[dim] = w.kernel;
  op.stride[dim] = w.stride;
  op.dilation[dim] = w.dilation;
  op.pad[dim] = w.pad;
  op.out[dim] = w.out;
  op.in[dim] =
      std::max<int64_t>(1, (w.out - 1) * w.stride + (w.kernel - 1) * w.dilation + 1 - 2 * w.pad);
}

GemmOp random_convolution(std::mt19937& random) {
  GemmOp op;
  op.grouped = uniform_between(random, 0, 2) == 0;
  op.batch = op.grouped ? uniform_between(random, 2, 12) : 1;
  op.images = uniform_between(random, 1, 3);
  // Half of the groups are so narrow that they are packed on small arrays too.
  const bool narrow = op.grouped && uniform_between(random, 0, 1) == 0;
  op.channels = uniform_between(random, 1, narrow ? 2 : op.grouped ? 4 : 20);
  op.outputs = uniform_between(random, 1, narrow ? 2 : op.grouped ? 4 : 24);
  const int64_t stride = uniform_between(random, 1, 3), dilation = uniform_between(random, 1, 3);
  for (const size_t dim : {size_t{1}, size_t{2}}) {
    const int64_t kernel = uniform_between(random, 1, 5);
    const int64_t out = uniform_between(random, 1, 9);
    set_window(op, dim, {kernel, stride, dilation, uniform_between(random, 0, kernel - 1), out});
  }
  if (op.images == 1 && uniform_between(random, 0, 1) == 0) {
    const int64_t kernel = uniform_between(random, 1, 3);
    const int64_t out = uniform_between(random, 1, 3);
    set_window(op, 0, {kernel, 1, 1, uniform_between(random, 0, kernel - 1), out});
  }
  return op;
}

}  // namespace

GemmOp random_gemm(std::mt19937& random) {
  return uniform_between(random, 0, 2) == 0 ? random_product(random) : random_convolution(random);
}

}  // namespace accsim::sim
