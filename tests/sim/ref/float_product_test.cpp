#include "sim/ref/sgemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "sim/ref/kernel_parts.h"

namespace accsim::sim::ref {
namespace {

std::vector<float> random_floats(int64_t count, std::mt19937& random) {
  std::uniform_real_distribution<float> real(-1, 1);
  std::vector<float> out(static_cast<size_t>(count));
  for (float& v : out) v = real(random);
  return out;
}

std::vector<const SimdKernels*> available() {
  std::vector<const SimdKernels*> out = {&baseline_kernels()};
  for (const SimdKernels* k : {avx2_kernels(), avx512_kernels()})
    if (k != nullptr) out.push_back(k);
  return out;
}

struct Shape {
  int64_t m, k, n;
};

/// Around the blocks' sizes: tiles of 6 and 12 by 8 to 32, panels of 256 steps and 768 columns.
const std::vector<Shape> kShapes = {{1, 1, 1},     {5, 7, 3},     {6, 16, 8},    {12, 256, 32},
                                    {13, 257, 33}, {64, 300, 49}, {7, 513, 800}, {500, 20, 40}};

TEST(Sgemm, DoesEveryInstructionSetGiveTheNaiveProduct) {
  std::mt19937 random(1);
  for (const SimdKernels* kernels : available())
    for (const Shape& s : kShapes) {
      const auto a = random_floats(s.m * s.k, random), b = random_floats(s.k * s.n, random),
                 bias = random_floats(s.m, random);
      std::vector<float> c(static_cast<size_t>(s.m * s.n));
      ThreadPool pool(3);
      Sgemm t;
      t.m = s.m, t.n = s.n, t.k = s.k;
      t.a = a.data(), t.a_row = s.k;
      t.b = b.data(), t.b_row = s.n;
      t.c = c.data(), t.c_row = s.n;
      t.row_bias = bias.data();
      sgemm(pool, t, *kernels);
      for (int64_t i = 0; i < s.m; ++i)
        for (int64_t j = 0; j < s.n; ++j) {
          double sum = static_cast<double>(bias[static_cast<size_t>(i)]);
          for (int64_t p = 0; p < s.k; ++p)
            sum += static_cast<double>(a[static_cast<size_t>(i * s.k + p)]) *
                   static_cast<double>(b[static_cast<size_t>(p * s.n + j)]);
          ASSERT_NEAR(static_cast<double>(c[static_cast<size_t>(i * s.n + j)]), sum,
                      1e-5 * std::sqrt(static_cast<double>(s.k)) + 1e-6)
              << s.m << "x" << s.k << "x" << s.n << " lanes " << kernels->nr;
        }
    }
}

TEST(Multiply, AreTurnedOperandsTheSameProduct) {
  std::mt19937 random(2);
  ThreadPool pool(2);
  for (const Shape& s : kShapes) {
    const auto a = random_floats(s.m * s.k, random), b = random_floats(s.k * s.n, random);
    std::vector<float> at(a.size()), bt(b.size()), plain(static_cast<size_t>(s.m * s.n)),
        turned(plain);
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t p = 0; p < s.k; ++p)
        at[static_cast<size_t>(p * s.m + i)] = a[static_cast<size_t>(i * s.k + p)];
    for (int64_t p = 0; p < s.k; ++p)
      for (int64_t j = 0; j < s.n; ++j)
        bt[static_cast<size_t>(j * s.k + p)] = b[static_cast<size_t>(p * s.n + j)];
    multiply(pool, {s.m, s.k, s.n, false, false}, a.data(), b.data(), plain.data());
    multiply(pool, {s.m, s.k, s.n, true, true}, at.data(), bt.data(), turned.data());
    for (size_t i = 0; i < plain.size(); ++i)
      ASSERT_NEAR(plain[i], turned[i], 1e-4F) << s.m << "x" << s.k << "x" << s.n;
  }
}

TEST(ThreadPool, IsEveryIndexVisitedOnceAndMayPartsNest) {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (int64_t count : {0, 1, 7, 1000}) {
      std::vector<int> visits(static_cast<size_t>(count), 0);
      pool.parts(count, 3, [&](int64_t begin, int64_t end) {
        pool.parts(end - begin, 1, [&](int64_t from, int64_t to) {
          for (int64_t i = from; i < to; ++i) ++visits[static_cast<size_t>(begin + i)];
        });
      });
      for (int v : visits) EXPECT_EQ(v, 1);
    }
  }
}

}  // namespace
}  // namespace accsim::sim::ref
