#pragma once
#include <vector>

#include "sim/ref/kernel_context.h"

namespace accsim::sim::ref {

/// Parts of kernels that several families share. What computes does it in double.

/// Is it kept as float or double?
inline bool is_real(const Array& array) {
  return array.kind() == ElementKind::f32 || array.kind() == ElementKind::f64;
}
/// Calls f with a zero of the type that the reals of `array` are kept in. Precondition: is_real().
template <class F>
Status with_real_kind(const Array& array, F f) {
  if (array.kind() == ElementKind::f32)
    f(float{});
  else
    f(double{});
  return ok();
}
/// The same for input 0, if output 0 is wanted; refuses other types.
template <class F>
Status for_reals(KernelContext& step, F f) {
  if (!step.has_output(0)) return ok();
  if (!is_real(step.input_array(0))) return refuse(step, "is computed for floats only");
  return with_real_kind(step.input_array(0), f);
}

/// Softmax of `length` elements, `stride` apart, in place; of an empty row nothing.
void softmax_row(double* row, int64_t length, int64_t stride = 1);

/// A function of one number with up to two parameters: activations of recurrent and fused
/// operators.
struct Activation {
  double (*f)(double v, double alpha, double beta) = nullptr;
  double alpha = 0, beta = 0;
  double operator()(double v) const { return f(v, alpha, beta); }
};
/// By ONNX's name, ignoring case; nullopt for an unknown one.
std::optional<Activation> find_activation(std::string_view name);

/// c[m x n] = a[m x k] b[k x n], row-major; on doubles by Eigen.
void multiply_doubles(int64_t m, int64_t k, int64_t n, const double* a, const double* b, double* c);

/// Sizes of multiply().
struct MatMulShape {
  int64_t m = 0, k = 0, n = 0;
  bool a_turned = false, b_turned = false;  ///< a lies as k x m, b as n x k
};
/// Like multiply_doubles(), a and b possibly turned; by float_product(), in parallel.
void multiply(ThreadPool& pool, const MatMulShape& shape, const float* a, const float* b, float* c);
/// The same on doubles by Eigen, on the calling thread.
void multiply(ThreadPool& pool, const MatMulShape& shape, const double* a, const double* b,
              double* c);

}  // namespace accsim::sim::ref
