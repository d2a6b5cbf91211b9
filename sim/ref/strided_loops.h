#pragma once
#include <array>
#include <cstring>

#include "sim/operators/fold.h"
#include "sim/ref/thread_pool.h"

namespace accsim::sim::ref {

/// A loop nest over the elements of a row-major result, with N operands read by strides. Axes that
/// can be walked as one are merged, so that the innermost rows are long.
template <size_t N>
struct StridedLoops {
  Dims dims;
  std::array<Strides, N> strides;
  std::array<int64_t, N> base{};

  StridedLoops(const Dims& all, std::array<Strides, N> steps, std::array<int64_t, N> start = {})
      : base(start) {
    std::array<Strides, N> kept;
    for (size_t d = 0; d < all.size(); ++d) {
      if (all[d] == 1) continue;
      bool merge = !dims.empty();
      for (size_t k = 0; k < N && merge; ++k) merge = kept[k].back() == steps[k][d] * all[d];
      if (merge) {
        dims.back() *= all[d];
        for (size_t k = 0; k < N; ++k) kept[k].back() = steps[k][d];
      } else {
        dims.push_back(all[d]);
        for (size_t k = 0; k < N; ++k) kept[k].push_back(steps[k][d]);
      }
    }
    if (dims.empty()) {
      dims.push_back(elements(all));
      for (size_t k = 0; k < N; ++k) kept[k].push_back(0);
    }
    strides = std::move(kept);
  }

  /// One innermost row or a piece of it: the index of its first result, its length, and the
  /// operands' first offsets and steps.
  using Row = FunctionRef<void(int64_t first, int64_t count, const std::array<int64_t, N>& at,
                               const std::array<int64_t, N>& step)>;
  /// Calls row for all of them, in parallel.
  void each_row(ThreadPool& pool, Row row) const;
};

/// A dense tensor's elements, to be broadcast to other dims.
template <class T>
struct BroadcastInput {
  const T* data;
  const Dims& dims;
};

/// out[i] = f(a, b) with both operands broadcast to `dims`.
template <class T, class R, class F>
void broadcast_binary(ThreadPool& pool, const BroadcastInput<T>& a, const BroadcastInput<T>& b,
                      R* out, const Dims& dims, F f) {
  const StridedLoops<2> walk(dims,
                             {broadcast_strides(a.dims, dims), broadcast_strides(b.dims, dims)});
  walk.each_row(pool, [&](int64_t first, int64_t count, const auto& at, const auto& step) {
    const T *x = a.data + at[0], *y = b.data + at[1];
    R* to = out + first;
    if (step[0] == 1 && step[1] == 1)
      for (int64_t i = 0; i < count; ++i) to[i] = f(x[i], y[i]);
    else if (step[0] == 1 && step[1] == 0)
      for (int64_t i = 0; i < count; ++i) to[i] = f(x[i], y[0]);
    else if (step[0] == 0 && step[1] == 1)
      for (int64_t i = 0; i < count; ++i) to[i] = f(x[0], y[i]);
    else
      for (int64_t i = 0; i < count; ++i) to[i] = f(x[i * step[0]], y[i * step[1]]);
  });
}

/// out = the elements of `from` at base + index * strides, for every index of dims.
template <class T>
void copy_strided(ThreadPool& pool, const T* from, const Dims& dims, const Strides& strides,
                  int64_t base, T* out) {
  const StridedLoops<1> walk(dims, {strides}, {base});
  walk.each_row(pool, [&](int64_t first, int64_t count, const auto& at, const auto& step) {
    const T* x = from + at[0];
    T* to = out + first;
    if (step[0] == 1)
      std::memcpy(to, x, static_cast<size_t>(count) * sizeof(T));
    else
      for (int64_t i = 0; i < count; ++i) to[i] = x[i * step[0]];
  });
}

/// out[i] = f(a[i]) over `count` elements, in parallel.
template <class T, class R, class F>
void map_elements(ThreadPool& pool, const T* a, R* out, int64_t count, F f) {
  pool.parallel_for(count, 16384, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = f(a[i]);
  });
}

}  // namespace accsim::sim::ref
