// No include guard's business: each file that includes this one first defines Eigen as a name of
// its own, so that the templates which it compiles for its instruction set can't be taken by the
// linker for those of another file. tests/sim/ref/isa_symbols_test.py looks at the objects.
#ifndef Eigen
#error "define Eigen as a namespace of this file's own"
#endif
#define EIGEN_DONT_PARALLELIZE
#define EIGEN_NO_DEBUG
// Small products, too, by the blocked kernel: what takes their place sums in an order that depends
// on the address of c.
#define EIGEN_GEMM_TO_COEFFBASED_THRESHOLD 0
#include <Eigen/Core>

#include "sim/ref/eigen/multiply_add.h"

namespace accsim::sim::ref {
namespace {

/// Matrix of any size in a storage order.
template <int kOrder>
using MatrixOf = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, kOrder>;
/// Floats that lie somewhere, rows (columns) any distance apart.
template <int kOrder>
using View = Eigen::Map<const MatrixOf<kOrder>, Eigen::Unaligned, Eigen::OuterStride<>>;

/// c += a b, with the storage orders of a and b.
template <int kLeft, int kRight>
void multiply_add_as(const MultiplyAdd& t) {
  const View<kLeft> a(t.a, t.m, t.k, Eigen::OuterStride<>(t.a_stride));
  const View<kRight> b(t.b, t.k, t.n, Eigen::OuterStride<>(t.b_stride));
  Eigen::Map<MatrixOf<Eigen::RowMajor>, Eigen::Unaligned, Eigen::OuterStride<>> c(
      t.c, t.m, t.n, Eigen::OuterStride<>(t.c_stride));
  c.noalias() += a * b;
}

/// The product of this file's instruction set.
void multiply_add(const MultiplyAdd& t) {
  constexpr int kRows = Eigen::RowMajor, kColumns = Eigen::ColMajor;
  if (t.a_turned)
    t.b_turned ? multiply_add_as<kColumns, kColumns>(t) : multiply_add_as<kColumns, kRows>(t);
  else
    t.b_turned ? multiply_add_as<kRows, kColumns>(t) : multiply_add_as<kRows, kRows>(t);
}

}  // namespace
}  // namespace accsim::sim::ref
