#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/operators/rules.h"
#include "sim/ref/kernel_parts.h"
#include "sim/ref/strided_loops.h"

namespace accsim::sim::ref {

void softmax_row(double* row, int64_t length, int64_t stride) {
  double most = -std::numeric_limits<double>::infinity(), total = 0;
  for (int64_t i = 0; i < length; ++i) most = std::max(most, row[i * stride]);
  for (int64_t i = 0; i < length; ++i) total += row[i * stride] = std::exp(row[i * stride] - most);
  for (int64_t i = 0; i < length; ++i) row[i * stride] /= total;
}

namespace {

/// Before opset 13 everything from the axis on was one row; since, only the axis is.
Result<Lines> softmax_lines(const KernelContext& step) {
  const bool old = step.opset() < 13;
  const Result<int64_t> axis = axis_attr(step, old ? 1 : -1, step.rank(0));
  if (!axis) {
    if (step.rank(0) == 0) return Lines{1, 1, 1};
    return axis.errors();
  }
  if (!old) return lines_along(step.dims(0), *axis);
  const auto a = static_cast<size_t>(*axis);
  const Dims& x = step.dims(0);
  return Lines{elements(x) == 0 ? 0 : elements(x, 0, a), elements(x, a, x.size()), 1};
}

/// Softmax of float16 in the steps of its definition, each rounded, as ONNX's own examples have it;
/// rounding the result alone can be two units away from that.
Status softmax_float16(KernelContext& step, const Lines& l) {
  const float* in = step.data<float>(0);
  float* out = step.result<float>(0);
  const auto round = [](double v) { return static_cast<float>(round_element(DType::float16, v)); };
  step.pool().parallel_for(
      l.outer * l.inner, 1 + 512 / (l.length + 1), [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          const int64_t first = l.offset_of(r / l.inner, r % l.inner, 0);
          float most = -std::numeric_limits<float>::infinity();
          for (int64_t n = 0; n < l.length; ++n) most = std::max(most, in[first + n * l.inner]);
          double total = 0;
          for (int64_t n = 0; n < l.length; ++n) {
            const int64_t at = first + n * l.inner;
            out[at] = round(std::exp(static_cast<double>(round(in[at] - most))));
            total += static_cast<double>(out[at]);
          }
          total = static_cast<double>(round(total));
          for (int64_t n = 0; n < l.length; ++n)
            out[first + n * l.inner] = round(static_cast<double>(out[first + n * l.inner]) / total);
        }
      });
  return ok();
}

template <bool kLog>
Status softmax_kernel(KernelContext& step) {
  const Result<Lines> l = softmax_lines(step);
  if (!l) return l.errors();
  if (!kLog && step.has_output(0) && step.dtype(0) == DType::float16)
    return softmax_float16(step, *l);
  return for_reals(step, [&]<class T>(T) {
    const T* in = step.data<T>(0);
    T* out = step.result<T>(0);
    const int64_t rows = l->outer * l->inner;
    step.pool().parallel_for(rows, 1 + 4096 / (l->length + 1), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t first = l->offset_of(r / l->inner, r % l->inner, 0);
        T most = -std::numeric_limits<T>::infinity();
        for (int64_t n = 0; n < l->length; ++n) most = std::max(most, in[first + n * l->inner]);
        double total = 0;
        for (int64_t n = 0; n < l->length; ++n) {
          const T e = std::exp(in[first + n * l->inner] - most);
          total += static_cast<double>(e);
          if (!kLog) out[first + n * l->inner] = e;
        }
        const T inverse = static_cast<T>(1 / total);
        const T log_total = static_cast<T>(std::log(total));
        for (int64_t n = 0; n < l->length; ++n) {
          T& v = out[first + n * l->inner];
          if (kLog)
            v = in[first + n * l->inner] - most - log_total;
          else
            v *= inverse;
        }
      }
    });
  });
}

Status hardmax_kernel(KernelContext& step) {
  const Result<Lines> l = softmax_lines(step);
  if (!l) return l.errors();
  const std::vector<double> x = step.reals(0);
  std::vector<double> out(x.size(), 0);
  for (int64_t o = 0; o < l->outer; ++o)
    for (int64_t i = 0; i < l->inner; ++i) {
      int64_t best = 0;
      for (int64_t n = 1; n < l->length; ++n)
        if (x[static_cast<size_t>(l->offset_of(o, i, n))] >
            x[static_cast<size_t>(l->offset_of(o, i, best))])
          best = n;
      if (l->length > 0) out[static_cast<size_t>(l->offset_of(o, i, best))] = 1;
    }
  return step.put_output(0, out), ok();
}

constexpr KernelRow kSoftmaxKernels[] = {
    {"Hardmax", hardmax_kernel},
    {"LogSoftmax", softmax_kernel<true>},
    {"Softmax", softmax_kernel<false>},
};

}  // namespace

std::span<const KernelRow> softmax_kernels() { return kSoftmaxKernels; }

}  // namespace accsim::sim::ref
