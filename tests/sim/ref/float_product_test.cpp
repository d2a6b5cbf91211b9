#include "sim/ref/float_product.h"

#include <gtest/gtest.h>

#include <algorithm>
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

std::vector<MultiplyAddFunction> available() {
  std::vector<MultiplyAddFunction> out = {multiply_add_baseline()};
  for (const MultiplyAddFunction f : {multiply_add_avx2(), multiply_add_avx512()})
    if (f != nullptr) out.push_back(f);
  return out;
}

struct Shape {
  int64_t m, k, n;
};

/// Empty, a vector on either side, small, and around the strips' lengths and written rows.
const std::vector<Shape> kShapes = {{1, 1, 1},     {5, 7, 3},       {3, 0, 4},     {1, 300, 500},
                                    {300, 70, 1},  {13, 257, 33},   {64, 300, 49}, {7, 513, 800},
                                    {500, 20, 40}, {200, 256, 190}, {97, 40, 769}};

double term(const std::vector<float>& a, const std::vector<float>& b, const Shape& s, int64_t i,
            int64_t p, int64_t j) {
  return static_cast<double>(a[static_cast<size_t>(i * s.k + p)]) *
         static_cast<double>(b[static_cast<size_t>(p * s.n + j)]);
}

/// The product with b in memory, or written by a function that checks what it is asked for.
// NOLINTNEXTLINE(readability-function-size): operands, and what varies
std::vector<float> run(const Shape& s, const std::vector<float>& a, const std::vector<float>& b,
                       const std::vector<float>& bias, bool written, int threads,
                       MultiplyAddFunction multiply_add) {
  std::vector<float> c(static_cast<size_t>(s.m * s.n), 7.0F);
  ThreadPool pool(threads);
  FloatProduct t;
  t.operands = {s.m, s.k, s.n, a.data(), s.k, false, b.data(), s.n, false, c.data(), s.n};
  t.row_bias = bias.data();
  if (written) {
    t.operands.b = nullptr;
    t.write_b = [&](int64_t p, int64_t rows, int64_t j, int64_t columns, float* to, int64_t width) {
      EXPECT_LE(p + rows, s.k);
      EXPECT_LE(j + columns, s.n);
      for (int64_t r = 0; r < rows; ++r)
        std::copy_n(b.data() + (p + r) * s.n + j, columns, to + r * width);
    };
  }
  float_product(pool, t, multiply_add);
  return c;
}

TEST(FloatProduct, DoesEveryInstructionSetGiveTheNaiveProduct) {
  std::mt19937 random(1);
  for (const MultiplyAddFunction multiply_add : available())
    for (const Shape& s : kShapes)
      for (const bool written : {false, true}) {
        const auto a = random_floats(s.m * s.k, random), b = random_floats(s.k * s.n, random),
                   bias = random_floats(s.m, random);
        const std::vector<float> c = run(s, a, b, bias, written, 3, multiply_add);
        for (int64_t i = 0; i < s.m; ++i)
          for (int64_t j = 0; j < s.n; ++j) {
            double sum = static_cast<double>(bias[static_cast<size_t>(i)]);
            for (int64_t p = 0; p < s.k; ++p) sum += term(a, b, s, i, p, j);
            ASSERT_NEAR(static_cast<double>(c[static_cast<size_t>(i * s.n + j)]), sum,
                        1e-5 * std::sqrt(static_cast<double>(s.k)) + 1e-6)
                << s.m << "x" << s.k << "x" << s.n << (written ? " written" : "");
          }
      }
}

TEST(FloatProduct, AreAllBitsTheSameForAnyNumberOfThreadsAndAnyAddress) {
  std::mt19937 random(3);
  for (const MultiplyAddFunction multiply_add : available())
    for (const Shape& s : kShapes)
      for (const bool written : {false, true}) {
        const auto a = random_floats(s.m * s.k, random), b = random_floats(s.k * s.n, random),
                   bias = random_floats(s.m, random);
        const std::vector<float> one = run(s, a, b, bias, written, 1, multiply_add);
        for (const int threads : {2, 3, 5})
          ASSERT_EQ(run(s, a, b, bias, written, threads, multiply_add), one)
              << s.m << "x" << s.k << "x" << s.n;
        for (const size_t shift : {1U, 3U, 5U}) {  // floats beyond where vectors begin
          std::vector<float> moved(one.size() + shift);
          ThreadPool pool;
          FloatProduct t;
          t.operands = {
              s.m, s.k, s.n, a.data(), s.k, false, b.data(), s.n, false, moved.data() + shift, s.n};
          t.row_bias = bias.data();
          float_product(pool, t, multiply_add);
          if (written) continue;
          ASSERT_TRUE(std::equal(one.begin(), one.end(), moved.data() + shift))
              << s.m << "x" << s.k << "x" << s.n << " shifted " << shift;
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

TEST(Pool, IsEveryIndexVisitedOnceAndMayPartsNest) {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (int64_t count : {0, 1, 7, 1000}) {
      std::vector<int> visits(static_cast<size_t>(count), 0);
      pool.parallel_for(count, 3, [&](int64_t begin, int64_t end) {
        pool.parallel_for(end - begin, 1, [&](int64_t from, int64_t to) {
          for (int64_t i = from; i < to; ++i) ++visits[static_cast<size_t>(begin + i)];
        });
      });
      for (int v : visits) EXPECT_EQ(v, 1);
    }
  }
}

}  // namespace
}  // namespace accsim::sim::ref
