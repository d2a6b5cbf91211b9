#include "sim/ref/sgemm.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "sim/ref/kernel_parts.h"

namespace accsim::sim::ref {
namespace {

constexpr int64_t kDepth = 256;    // rows of b in a panel: a sliver of it stays in the L1 cache
constexpr int64_t kRows = 480;     // rows of a that meet a panel of b before the next: L2 cache too
constexpr int64_t kColumns = 768;  // columns of b in a panel: the panel stays in the L2 cache

struct FreeAligned {
  void operator()(float* at) const { ::operator delete (at, std::align_val_t{64}); }
};
using Buffer = std::unique_ptr<float[], FreeAligned>;

Buffer buffer(int64_t floats) {
  return Buffer(static_cast<float*>(
      ::operator new (static_cast<size_t>(floats) * sizeof(float), std::align_val_t{64})));
}

int64_t round_up(int64_t v, int64_t to) { return (v + to - 1) / to * to; }

/// Rows [i, i + rows) of a over k steps from p on, mr floats a step; missing rows are 0.
void pack_a(const Sgemm& t, int64_t i, int64_t rows, int64_t p, int64_t k, int64_t mr, float* to) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = t.a + (i + r) * t.a_row + p * t.a_column;
    for (int64_t q = 0; q < k; ++q) to[q * mr + r] = from[q * t.a_column];
  }
  for (int64_t r = rows; r < mr; ++r)
    for (int64_t q = 0; q < k; ++q) to[q * mr + r] = 0;
}

/// Columns [j, j + columns) of b over k steps from p on, nr floats a step; missing ones are 0.
void pack_b(const Sgemm& t, int64_t p, int64_t k, int64_t j, int64_t columns, int64_t nr,
            float* to) {
  if (columns < nr) std::fill_n(to, k * nr, 0.0F);
  if (t.pack_b) return t.pack_b(p, k, j, columns, to, nr);
  for (int64_t q = 0; q < k; ++q) {
    const float* from = t.b + (p + q) * t.b_row + j * t.b_column;
    if (t.b_column == 1)
      std::memcpy(to + q * nr, from, static_cast<size_t>(columns) * sizeof(float));
    else
      for (int64_t c = 0; c < columns; ++c) to[q * nr + c] = from[c * t.b_column];
  }
}

/// One tile that the edge of c cuts: computed aside, then copied as far as c goes.
void edge_tile(const SimdKernels& s, int64_t k, const float* a, const float* b, float* c,
               int64_t c_row, int64_t rows, int64_t columns, bool add) {
  alignas(64) float aside[16 * 64];
  s.tile(k, a, b, aside, s.nr, false);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      c[i * c_row + j] = (add ? c[i * c_row + j] : 0) + aside[i * s.nr + j];
}

struct Range {
  int64_t begin, end;
};

/// The tiles of some rows and columns for the k steps from p on, from packed panels. A sliver of b
/// meets all of a's before the next one is fetched.
void tiles(const Sgemm& t, const SimdKernels& s, int64_t p, Range rows, Range columns,
           const float* a, const float* b) {
  const int64_t k = std::min(kDepth, t.k - p);
  for (int64_t j = columns.begin; j < columns.end; j += s.nr)
    for (int64_t i = rows.begin; i < rows.end; i += s.mr) {
      const float *left = a + (i - rows.begin) * k, *right = b + (j - columns.begin) * k;
      float* c = t.c + i * t.c_row + j;
      const int64_t high = std::min(s.mr, rows.end - i), wide = std::min(s.nr, columns.end - j);
      if (high == s.mr && wide == s.nr)
        s.tile(k, left, right, c, t.c_row, p > 0);
      else
        edge_tile(s, k, left, right, c, t.c_row, high, wide, p > 0);
    }
}

/// Rows [i0, i1) and columns [j0, j1) of c.
void block(const Sgemm& t, const SimdKernels& s, int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
  const int64_t depth = std::min(kDepth, t.k), width = std::min(kColumns, round_up(j1 - j0, s.nr));
  const Buffer a = buffer(round_up(i1 - i0, s.mr) * depth);
  const Buffer b = buffer(round_up(width, s.nr) * depth);
  const int64_t step = width / s.nr * s.nr;
  for (int64_t p = 0; p < t.k; p += kDepth) {
    const int64_t k = std::min(kDepth, t.k - p);
    for (int64_t i = i0; i < i1; i += s.mr)
      pack_a(t, i, std::min(s.mr, i1 - i), p, k, s.mr, a.get() + (i - i0) * k);
    for (int64_t panel = j0; panel < j1; panel += step) {
      const int64_t end = std::min(panel + step, j1);
      for (int64_t j = panel; j < end; j += s.nr)
        pack_b(t, p, k, j, std::min(s.nr, end - j), s.nr, b.get() + (j - panel) * k);
      for (int64_t top = i0; top < i1; top += kRows / s.mr * s.mr)
        tiles(t, s, p, {top, std::min(top + kRows / s.mr * s.mr, i1)}, {panel, end},
              a.get() + (top - i0) * k, b.get());
    }
  }
  if (t.row_bias != nullptr)
    for (int64_t i = i0; i < i1; ++i)
      for (int64_t j = j0; j < j1; ++j) t.c[i * t.c_row + j] += t.row_bias[i];
}

}  // namespace

const SimdKernels& simd_kernels() {
  if (const SimdKernels* best = avx512_kernels()) return *best;
  if (const SimdKernels* good = avx2_kernels()) return *good;
  return baseline_kernels();
}

void sgemm(ThreadPool& pool, const Sgemm& t, const SimdKernels& s) {
  if (t.m <= 0 || t.n <= 0) return;
  if (t.k <= 0) {
    for (int64_t i = 0; i < t.m; ++i)
      std::fill_n(t.c + i * t.c_row, t.n, t.row_bias != nullptr ? t.row_bias[i] : 0.0F);
    return;
  }
  // A part as large as possible along the longer side; small products aren't worth sharing out.
  const int64_t parts = t.m * t.n * t.k < 200'000 ? 1 : pool.threads();
  const bool columns = t.n / s.nr >= t.m / s.mr;
  const int64_t unit = columns ? s.nr : s.mr, all = columns ? t.n : t.m;
  const int64_t units = (all + unit - 1) / unit;
  const int64_t share = (units + parts - 1) / parts;
  pool.parts((units + share - 1) / share, 1, [&](int64_t begin, int64_t end) {
    const int64_t from = begin * share * unit, to = std::min(end * share * unit, all);
    if (columns)
      block(t, s, 0, t.m, from, to);
    else
      block(t, s, from, to, 0, t.n);
  });
}

namespace {

/// One row of a times b: bound by reading b once, so nothing is packed.
void row_times(ThreadPool& pool, const MatMulShape& shape, const float* a, const float* b,
               float* c) {
  const SimdKernels& s = simd_kernels();
  pool.parts(shape.n, 64 + 65536 / (shape.k + 1), [&](int64_t begin, int64_t end) {
    if (shape.b_turned) {
      for (int64_t j = begin; j < end; ++j) c[j] = s.dot(a, b + j * shape.k, shape.k);
      return;
    }
    std::fill(c + begin, c + end, 0.0F);
    for (int64_t p = 0; p < shape.k; ++p)
      s.add_scaled(a[p], b + p * shape.n + begin, c + begin, end - begin);
  });
}

}  // namespace

void multiply(ThreadPool& pool, const MatMulShape& shape, const float* a, const float* b,
              float* c) {
  if (shape.m == 1 && shape.k > 0) return row_times(pool, shape, a, b, c);
  Sgemm t;
  t.m = shape.m;
  t.n = shape.n;
  t.k = shape.k;
  t.a = a;
  t.a_row = shape.a_turned ? 1 : shape.k;
  t.a_column = shape.a_turned ? shape.m : 1;
  t.b = b;
  t.b_row = shape.b_turned ? 1 : shape.n;
  t.b_column = shape.b_turned ? shape.k : 1;
  t.c = c;
  t.c_row = shape.n;
  sgemm(pool, t);
}

}  // namespace accsim::sim::ref
