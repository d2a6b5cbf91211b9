#include "sim/ref/strided_loops.h"

#include <algorithm>

namespace accsim::sim::ref {

template <size_t N>
void StridedLoops<N>::each_row(ThreadPool& pool, Row row) const {
  const int64_t length = dims.back();
  if (length == 0) return;
  const int64_t outer = elements(dims, 0, dims.size() - 1);
  // Long rows are cut, so that one row can be shared out too.
  constexpr int64_t kPiece = 16384;
  const int64_t pieces = (length + kPiece - 1) / kPiece;
  const int64_t grain = std::max<int64_t>(1, kPiece / length);
  pool.parallel_for(outer * pieces, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t from = i % pieces * kPiece;
      std::array<int64_t, N> at = base, step;
      int64_t rest = i / pieces;
      for (size_t d = dims.size() - 1; d-- > 0;) {
        for (size_t k = 0; k < N; ++k) at[k] += rest % dims[d] * strides[k][d];
        rest /= dims[d];
      }
      for (size_t k = 0; k < N; ++k) {
        step[k] = strides[k].back();
        at[k] += from * step[k];
      }
      row(i / pieces * length + from, std::min(kPiece, length - from), at, step);
    }
  });
}

template struct StridedLoops<1>;
template struct StridedLoops<2>;
template struct StridedLoops<3>;

}  // namespace accsim::sim::ref
