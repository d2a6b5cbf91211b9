#include "sim/ref/float_product.h"

#include <algorithm>
#include <memory>

#include "sim/ref/kernel_parts.h"

namespace accsim::sim::ref {
namespace {

constexpr int64_t kStrip = 192;        // rows or columns of a strip, about
constexpr int64_t kWrittenRows = 256;  // rows of b that are written before they are multiplied
constexpr int64_t kSmall = 200'000;    // multiplications that aren't worth sharing out

/// Length of the strips that `size` is cut into: as many as make even shares of two or four
/// threads.
int64_t strip_length(int64_t size) {
  if (size <= kStrip / 2) return size;
  const int64_t strips = (size + 4 * kStrip - 1) / (4 * kStrip) * 4;
  constexpr int64_t kVector = 16;
  return ((size + strips - 1) / strips + kVector - 1) / kVector * kVector;
}

void set_bias(const FloatProduct& t) {
  const MultiplyAdd& o = t.operands;
  for (int64_t i = 0; i < o.m; ++i)
    std::fill_n(o.c + i * o.c_stride, o.n, t.row_bias != nullptr ? t.row_bias[i] : 0.0F);
}

/// Rows [i, i + rows) and columns [j, j + columns) of the product.
MultiplyAdd part_of_product(const MultiplyAdd& whole, int64_t i, int64_t rows, int64_t j,
                            int64_t columns) {
  MultiplyAdd out = whole;
  out.m = rows;
  out.n = columns;
  out.a += i * (whole.a_turned ? 1 : whole.a_stride);
  out.b += j * (whole.b_turned ? whole.b_stride : 1);
  out.c += i * whole.c_stride + j;
  return out;
}

std::unique_ptr<float[]> float_buffer(int64_t count) {
  return std::make_unique_for_overwrite<float[]>(static_cast<size_t>(count));
}

/// Columns [j, j + columns), b written a few rows at a time.
void written_strip(const FloatProduct& t, MultiplyAddFunction multiply_add, int64_t j,
                   int64_t columns) {
  const int64_t k = t.operands.k;
  const auto b = float_buffer(std::min(k, kWrittenRows) * columns);
  MultiplyAdd o = t.operands;
  o.n = columns;
  o.c += j;
  o.b = b.get();
  o.b_stride = columns;
  for (int64_t p = 0; p < k; p += kWrittenRows) {
    o.k = std::min(kWrittenRows, k - p);
    t.write_b(p, o.k, j, columns, b.get(), columns);
    o.a = t.operands.a + p * (o.a_turned ? o.a_stride : 1);
    multiply_add(o);
  }
}

}  // namespace

MultiplyAddFunction best_multiply_add() {
  static const MultiplyAddFunction best = [] {
    if (const MultiplyAddFunction widest = multiply_add_avx512()) return widest;
    if (const MultiplyAddFunction wide = multiply_add_avx2()) return wide;
    return multiply_add_baseline();
  }();
  return best;
}

void float_product(ThreadPool& pool, const FloatProduct& t, MultiplyAddFunction multiply_add) {
  MultiplyAdd o = t.operands;
  if (o.m <= 0 || o.n <= 0) return;
  set_bias(t);
  if (o.k <= 0) return;
  const bool small = o.m * o.n * o.k < kSmall, by_columns = o.n >= o.m;
  if (t.write_b && by_columns && !small) {
    const int64_t strip = strip_length(o.n);
    return pool.parallel_for((o.n + strip - 1) / strip, 1, [&](int64_t begin, int64_t end) {
      for (int64_t s = begin; s < end; ++s)
        written_strip(t, multiply_add, s * strip, std::min(strip, o.n - s * strip));
    });
  }
  std::unique_ptr<float[]> written;
  if (t.write_b) {
    written = float_buffer(o.k * o.n);
    pool.parallel_for(o.k, 1 + 65536 / o.n, [&](int64_t begin, int64_t end) {
      t.write_b(begin, end - begin, 0, o.n, written.get() + begin * o.n, o.n);
    });
    o.b = written.get();
    o.b_stride = o.n;
  }
  if (small) return multiply_add(o);
  const int64_t all = by_columns ? o.n : o.m, strip = strip_length(all);
  pool.parallel_for((all + strip - 1) / strip, 1, [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; ++s) {
      const int64_t from = s * strip, length = std::min(strip, all - from);
      multiply_add(by_columns ? part_of_product(o, 0, o.m, from, length)
                              : part_of_product(o, from, length, 0, o.n));
    }
  });
}

void multiply(ThreadPool& pool, const MatMulShape& s, const float* a, const float* b, float* c) {
  FloatProduct t;
  const int64_t a_stride = s.a_turned ? s.m : s.k, b_stride = s.b_turned ? s.k : s.n;
  t.operands = {s.m, s.k, s.n, a, a_stride, s.a_turned, b, b_stride, s.b_turned, c, s.n};
  float_product(pool, t);
}

}  // namespace accsim::sim::ref
