#include <Eigen/Core>

#include "sim/ref/kernel_parts.h"

namespace accsim::sim::ref {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using View = Eigen::Map<const Matrix>;

}  // namespace

void multiply_doubles(int64_t m, int64_t k, int64_t n, const double* a, const double* b,
                      double* c) {
  Eigen::Map<Matrix>(c, m, n).noalias() = View(a, m, k) * View(b, k, n);
}

void multiply(ThreadPool&, const MatMulShape& s, const double* a, const double* b, double* c) {
  const View left(a, s.a_turned ? s.k : s.m, s.a_turned ? s.m : s.k);
  const View right(b, s.b_turned ? s.n : s.k, s.b_turned ? s.k : s.n);
  Eigen::Map<Matrix> out(c, s.m, s.n);
  if (s.a_turned && s.b_turned)
    out.noalias() = left.transpose() * right.transpose();
  else if (s.a_turned)
    out.noalias() = left.transpose() * right;
  else if (s.b_turned)
    out.noalias() = left * right.transpose();
  else
    out.noalias() = left * right;
}

}  // namespace accsim::sim::ref
