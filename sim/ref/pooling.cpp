#include "sim/ref/pooling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/operators/fold.h"
#include "sim/operators/names.h"
#include "sim/operators/rules.h"

namespace accsim::sim::ref {
namespace {

int64_t pixel_count(const Extent3& e) { return e[0] * e[1] * e[2]; }

/// First and past-the-last kernel position along dim d that lies inside the input.
struct Reach {
  int64_t begin, end;
};
Reach kernel_reach(const SlidingWindow& w, size_t d, int64_t out) {
  const int64_t start = out * w.stride[d] - w.pad[d], step = w.dilation[d];
  const int64_t begin = start >= 0 ? 0 : (-start + step - 1) / step;
  const int64_t room = w.in[d] - 1 - start;
  return {begin, room < 0 ? begin : std::max(begin, std::min(w.kernel[d], room / step + 1))};
}

/// Calls visit(offset in the plane) for every input element of the window at output (z, y, x).
template <class F>
void each_element(const SlidingWindow& w, int64_t z, int64_t y, int64_t x, F visit) {
  const Reach rz = kernel_reach(w, 0, z), ry = kernel_reach(w, 1, y), rx = kernel_reach(w, 2, x);
  for (int64_t kz = rz.begin; kz < rz.end; ++kz)
    for (int64_t ky = ry.begin; ky < ry.end; ++ky) {
      const int64_t row = (z * w.stride[0] - w.pad[0] + kz * w.dilation[0]) * w.in[1] +
                          y * w.stride[1] - w.pad[1] + ky * w.dilation[1];
      const int64_t first = row * w.in[2] + x * w.stride[2] - w.pad[2];
      for (int64_t kx = rx.begin; kx < rx.end; ++kx) visit(first + kx * w.dilation[2]);
    }
}

/// Calls visit(plane, z, y, x, output index) for every output, planes in parallel.
template <class F>
void each_output(ThreadPool& pool, const SlidingWindow& w, int64_t planes, F visit) {
  const int64_t outs = pixel_count(w.out);
  pool.parallel_for(planes, 1 + 16384 / (outs * std::min<int64_t>(w.tap_count(), 1024) + 1),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t p = begin; p < end; ++p)
                        for (int64_t o = 0; o < outs; ++o)
                          visit(p, o / (w.out[1] * w.out[2]), o / w.out[2] % w.out[1], o % w.out[2],
                                p * outs + o);
                    });
}

Status max_pool(KernelContext& step) {
  const Result<SlidingWindow> window = pool_window(step, false);
  if (!window) return window.errors();
  const SlidingWindow& w = *window;
  const bool indices = step.has_output(1);
  const bool column_major = int_attr(step, "storage_order", 0) != 0;
  const int64_t plane = pixel_count(w.in), planes = step.dims(0)[0] * step.dims(0)[1];
  if (!step.has_output(0)) return refuse(step, "without output 0");
  int64_t* places = indices ? step.result<int64_t>(1) : nullptr;
  with_element_kind(step.input_array(0).kind(), [&]<class T>(T) {
    using Limits = std::numeric_limits<T>;
    const T least = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    const T* in = step.data<T>(0);
    T* out = step.result<T>(0);
    each_output(step.pool(), w, planes, [&](int64_t p, int64_t z, int64_t y, int64_t x, int64_t o) {
      T most = least;
      int64_t best = -1;
      each_element(w, z, y, x, [&](int64_t at) {
        const T v = in[p * plane + at];
        if (v > most || best < 0) most = v, best = at;
      });
      out[o] = most;
      if (!indices) return;
      if (column_major && best >= 0)
        best = best % w.in[2] * w.in[1] * w.in[0] + best / w.in[2] % w.in[1] * w.in[0] +
               best / (w.in[1] * w.in[2]);
      places[o] = p * plane + best;
    });
  });
  return ok();
}

}  // namespace

Result<AverageShape> average_shape(const NodeView& node, bool channels_last) {
  const Result<SlidingWindow> window = pool_window(node, channels_last);
  if (!window) return window.errors();
  AverageShape shape{*window, {0, 0, 0}, int_attr(node, "count_include_pad", 0) != 0};
  const Result<WindowAttrs> attrs = window_attrs(node, window->rank);
  if (!attrs) return attrs.errors();
  for (size_t d = 0; d < window->rank; ++d) {
    const size_t at = 3 - window->rank + d;
    const int64_t covered = (window->out[at] - 1) * window->stride[at] +
                            dilated_extent(window->kernel[at], window->dilation[at]);
    shape.after[at] = attrs->has_same_padding()
                          ? std::max<int64_t>(0, covered - window->in[at] - window->pad[at])
                          : attrs->after[d];
  }
  return shape;
}

template <class T>
void average_planes(ThreadPool& pool, const AverageShape& shape, int64_t planes, const T* x,
                    T* out) {
  const SlidingWindow& w = shape.window;
  const int64_t plane = pixel_count(w.in);
  // Window positions inside the input and its padding; ceil_mode can reach beyond both.
  const auto counted = [&](size_t d, int64_t o) {
    int64_t count = 0;
    for (int64_t k = 0; k < w.kernel[d]; ++k)
      count += o * w.stride[d] - w.pad[d] + k * w.dilation[d] < w.in[d] + shape.after[d];
    return count;
  };
  each_output(pool, w, planes, [&](int64_t p, int64_t z, int64_t y, int64_t c, int64_t o) {
    double sum = 0;
    int64_t count = 0;
    each_element(w, z, y, c, [&](int64_t at) {
      sum += static_cast<double>(x[p * plane + at]);
      ++count;
    });
    if (shape.include_pad) count = counted(0, z) * counted(1, y) * counted(2, c);
    out[o] = static_cast<T>(sum / static_cast<double>(count));
  });
}

template void average_planes(ThreadPool&, const AverageShape&, int64_t, const float*, float*);
template void average_planes(ThreadPool&, const AverageShape&, int64_t, const double*, double*);

namespace {

Status average_pool(KernelContext& step) {
  const Result<AverageShape> shape = average_shape(step, false);
  if (!shape) return shape.errors();
  if (!step.has_output(0)) return ok();
  const int64_t planes = step.dims(0)[0] * step.dims(0)[1];
  if (step.input_array(0).kind() == ElementKind::f32)
    average_planes(step.pool(), *shape, planes, step.data<float>(0), step.result<float>(0));
  else if (step.input_array(0).kind() == ElementKind::f64)
    average_planes(step.pool(), *shape, planes, step.data<double>(0), step.result<double>(0));
  else
    return refuse(step, "is computed for floats only");
  return ok();
}

/// The p-norm of numbers given one by one.
struct PNorm {
  double p, sum = 0;
  void add_value(double v) {
    sum += p == 2 ? v * v : p == 1 ? std::abs(v) : std::pow(std::abs(v), p);
  }
  double value() const { return p == 2 ? std::sqrt(sum) : p == 1 ? sum : std::pow(sum, 1 / p); }
};

/// Attribute p, a float up to opset 1.
double norm_order(const KernelContext& step) {
  return step.opset() < 2 ? real_attr(step, "p", 2) : static_cast<double>(int_attr(step, "p", 2));
}

Status lp_pool(KernelContext& step) {
  const Result<SlidingWindow> w = pool_window(step, false);
  if (!w) return w.errors();
  const std::vector<double> in = step.reals(0);
  const int64_t plane = pixel_count(w->in), planes = step.dims(0)[0] * step.dims(0)[1];
  std::vector<double> out(static_cast<size_t>(planes * pixel_count(w->out)));
  const double p = norm_order(step);
  each_output(step.pool(), *w, planes, [&](int64_t q, int64_t z, int64_t y, int64_t x, int64_t o) {
    PNorm norm{p};
    each_element(*w, z, y, x,
                 [&](int64_t at) { norm.add_value(in[static_cast<size_t>(q * plane + at)]); });
    out[static_cast<size_t>(o)] = norm.value();
  });
  return step.put_output(0, out), ok();
}

enum class Whole { average, largest, norm };

template <Whole kKind>
Status global_pool(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  const Dims& x = step.dims(0);
  const int64_t inner = elements(x, 2, x.size()), planes = x[0] * x[1];
  const double p = norm_order(step);
  std::vector<double> out(static_cast<size_t>(planes));
  with_element_kind(step.input_array(0).kind(), [&]<class T>(T) {
    const T* in = step.data<T>(0);
    step.pool().parallel_for(planes, 1 + 16384 / (inner + 1), [&](int64_t begin, int64_t end) {
      for (int64_t q = begin; q < end; ++q) {
        double sum = 0, most = -std::numeric_limits<double>::infinity();
        PNorm norm{p};
        for (int64_t i = 0; i < inner; ++i) {
          const auto v = static_cast<double>(in[q * inner + i]);
          if (kKind == Whole::average)
            sum += v;
          else if (kKind == Whole::largest)
            most = std::max(most, v);
          else
            norm.add_value(v);
        }
        out[static_cast<size_t>(q)] = kKind == Whole::average   ? sum / static_cast<double>(inner)
                                      : kKind == Whole::largest ? most
                                                                : norm.value();
      }
    });
  });
  return step.put_output(0, out), ok();
}

/// Indices count in the shape that the pooling came from; a larger output_shape adds zeros at the
/// ends.
Status max_unpool(KernelContext& step) {
  const Dims &x = step.dims(0), &y = step.out_dims(0);
  const size_t rank = x.size() - 2;
  const Result<Dims> kernel = kernel_shape(step, rank);
  const Result<WindowAttrs> attrs = window_attrs(step, rank);
  if (!kernel) return kernel.errors();
  if (!attrs) return attrs.errors();
  Dims pooled{x[0], x[1]};
  for (size_t d = 0; d < rank; ++d)
    pooled.push_back((x[d + 2] - 1) * attrs->strides[d] + (*kernel)[d] - attrs->before[d] -
                     attrs->after[d]);
  const std::vector<double> values = step.reals(0);
  const std::vector<int64_t> at = step.integers(1);
  const Strides strides = row_major(y);
  std::vector<double> out(static_cast<size_t>(elements(y)), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    int64_t rest = at[i], to = 0;
    for (size_t d = y.size(); d-- > 0;) {
      const int64_t index = pooled[d] > 0 ? rest % pooled[d] : 0;
      rest = pooled[d] > 0 ? rest / pooled[d] : 0;
      if (index < 0 || index >= y[d] || rest < 0)
        return bad_node(step, fmt::format("index {} is outside the output", at[i]));
      to += index * strides[d];
    }
    if (rest != 0) return bad_node(step, fmt::format("index {} is outside the output", at[i]));
    out[static_cast<size_t>(to)] = values[i];
  }
  return step.put_output(0, out), ok();
}

/// com.microsoft: MaxPool on N, spatial, C arrays of 8-bit integers.
Status nhwc_max_pool(KernelContext& step) {
  const Result<SlidingWindow> w = pool_window(step, true);
  if (!w) return w.errors();
  const std::vector<int64_t> in = step.integers(0);
  const int64_t channels = step.dims(0).back(), plane = pixel_count(w->in),
                outs = pixel_count(w->out);
  std::vector<int64_t> out(static_cast<size_t>(elements(step.out_dims(0))));
  each_output(step.pool(), *w, step.dims(0)[0] * channels,
              [&](int64_t p, int64_t z, int64_t y, int64_t x, int64_t o) {
                const int64_t n = p / channels, c = p % channels;
                int64_t most = std::numeric_limits<int64_t>::lowest();
                each_element(*w, z, y, x, [&](int64_t at) {
                  most = std::max(most, in[static_cast<size_t>((n * plane + at) * channels + c)]);
                });
                out[static_cast<size_t>((n * outs + o % outs) * channels + c)] = most;
              });
  return step.put_output(0, out), ok();
}

constexpr KernelRow kPoolingKernels[] = {
    {"AveragePool", average_pool},
    {"GlobalAveragePool", global_pool<Whole::average>},
    {"GlobalLpPool", global_pool<Whole::norm>},
    {"GlobalMaxPool", global_pool<Whole::largest>},
    {"LpPool", lp_pool},
    {"MaxPool", max_pool},
    {"MaxUnpool", max_unpool},
    {"NhwcMaxPool", nhwc_max_pool, kMicrosoft},
};

}  // namespace

std::span<const KernelRow> pool_kernels() { return kPoolingKernels; }

}  // namespace accsim::sim::ref
