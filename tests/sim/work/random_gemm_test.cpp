#include "sim/work/random_gemm.h"

#include <gtest/gtest.h>

namespace accsim::sim {
namespace {

TEST(RandomGemm, IsAlwaysARealWindow) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const GemmOp op = random_gemm(random);
    EXPECT_GT(op.macs(), 0);
    for (size_t d = 0; d < 3; ++d) {
      EXPECT_LT(op.pad[d], op.kernel[d]);
      // The last window starts inside the input or its padding.
      EXPECT_LT((op.out[d] - 1) * op.stride[d] - op.pad[d], op.in[d]);
    }
  }
}

TEST(RandomGemm, MeetsEveryKind) {
  std::mt19937 random(2);
  int one_row = 0, thin = 0, grouped = 0, batched = 0;
  int dilated = 0, strided = 0, padded = 0, deep = 0;
  constexpr int kCount = 2000;
  for (int i = 0; i < kCount; ++i) {
    const GemmOp op = random_gemm(random);
    one_row += op.m() == 1;
    thin += op.k() < 4;
    grouped += op.grouped;
    batched += !op.grouped && op.batch > 1;
    dilated += op.dilation[1] > 1 && op.kernel[1] > 1;
    strided += op.stride[1] > 1;
    padded += op.pad[1] > 0 || op.pad[2] > 0;
    deep += op.kernel[0] > 1;
  }
  for (const int n : {one_row, thin, grouped, batched, dilated, strided, padded, deep})
    EXPECT_GT(n, kCount / 100);
}

}  // namespace
}  // namespace accsim::sim
