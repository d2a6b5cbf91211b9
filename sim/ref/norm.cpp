#include <algorithm>
#include <cmath>

#include "sim/operators/names.h"
#include "sim/operators/reduction/reduction_rules.h"
#include "sim/operators/rules.h"
#include "sim/ref/kernel_parts.h"
#include "sim/ref/strided_loops.h"

namespace accsim::sim::ref {

namespace {

/// What is normalised: `rows` rows of `length` elements.
struct Rows {
  int64_t rows = 0, length = 0;
  double epsilon = 1e-5;
  bool centre = true;  ///< false: the mean is left out
};

/// Of each row.
struct RowStatistics {
  std::vector<double> means, inverses;  ///< inverse: of the deviation
};

/// out = (x - mean) / sqrt(variance + epsilon) over every row.
template <class T>
RowStatistics normalize_rows(const KernelContext& step, const T* in, T* out, const Rows& over) {
  const int64_t rows = over.rows, length = over.length;
  const double epsilon = over.epsilon;
  const bool centre = over.centre;
  RowStatistics of;
  of.means.assign(static_cast<size_t>(rows), 0);
  of.inverses.assign(static_cast<size_t>(rows), 0);
  step.pool().parallel_for(rows, 1 + 8192 / (length + 1), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* x = in + r * length;
      double sum = 0, squares = 0;
      if (centre)
        for (int64_t i = 0; i < length; ++i) sum += static_cast<double>(x[i]);
      const double mean = sum / static_cast<double>(length);
      for (int64_t i = 0; i < length; ++i) {
        const double d = static_cast<double>(x[i]) - mean;
        squares += d * d;
      }
      const double inverse = 1 / std::sqrt(squares / static_cast<double>(length) + epsilon);
      for (int64_t i = 0; i < length; ++i)
        out[r * length + i] = static_cast<T>((static_cast<double>(x[i]) - mean) * inverse);
      of.means[static_cast<size_t>(r)] = mean;
      of.inverses[static_cast<size_t>(r)] = inverse;
    }
  });
  return of;
}

/// out = out * scale + bias, both broadcast as if of shape `as`; absent ones are left out.
template <class T>
void scale_and_shift(KernelContext& step, size_t scale, size_t bias, const Dims& scale_dims) {
  const DType kept =
      step.output_array(0).kind() == ElementKind::f64 ? DType::float64 : DType::float32;
  T* out = step.result<T>(0);
  const Dims& dims = step.out_dims(0);
  for (const size_t i : {scale, bias}) {
    if (!step.has_input(i)) continue;
    const Array with = step.input_array(i).converted_to(kept);
    const Dims& shape = scale_dims.empty() ? with.dims() : scale_dims;
    if (i == scale)
      broadcast_binary<T>(step.pool(), {out, dims}, {with.data<T>(), shape}, out, dims,
                          [](T a, T b) { return a * b; });
    else
      broadcast_binary<T>(step.pool(), {out, dims}, {with.data<T>(), shape}, out, dims,
                          [](T a, T b) { return a + b; });
  }
}

/// The shape that makes one element a channel broadcast to x: {C, 1, 1, ...}.
Dims per_channel(const Dims& x, int64_t channels) {
  Dims dims(x.size() > 1 ? x.size() - 1 : 1, 1);
  dims[0] = channels;
  return dims;
}

/// Layer and RMS normalisation from an axis on; `mean` and `inverse` are the outputs of the
/// statistics (0: there is none), bias input 2 counts only when centred.
Status from_axis(KernelContext& step, bool centre, size_t mean_out, size_t inverse_out) {
  const Result<int64_t> axis = axis_attr(step, -1, step.rank(0));
  if (!axis) return axis.errors();
  const int64_t length = elements(step.dims(0), static_cast<size_t>(*axis), step.dims(0).size());
  const double epsilon = real_attr(step, "epsilon", 1e-5);
  RowStatistics of;
  Status done = for_reals(step, [&]<class T>(T) {
    const Array x = step.input_array(0);
    const int64_t rows = elements(x.dims(), 0, static_cast<size_t>(*axis));
    if (step.output_array(0).kind() != x.kind()) return;
    of = normalize_rows<T>(step, x.data<T>(), step.result<T>(0), {rows, length, epsilon, centre});
    scale_and_shift<T>(step, 1, centre ? 2 : step.input_count(), {});
  });
  if (!done) return done;
  if (step.has_output(0) && step.output_array(0).kind() != step.input_array(0).kind())
    return refuse(step, "the scale must be of the input's kind");
  if (mean_out > 0 && mean_out < step.output_count()) step.put_output(mean_out, of.means);
  if (inverse_out > 0 && inverse_out < step.output_count())
    step.put_output(inverse_out, of.inverses);
  return ok();
}

Status layer_norm(KernelContext& step) { return from_axis(step, true, 1, 2); }
Status simplified_layer_norm(KernelContext& step) { return from_axis(step, false, 0, 1); }
Status rms_norm(KernelContext& step) { return from_axis(step, false, 0, 0); }

Status instance_norm(KernelContext& step) {
  return for_reals(step, [&]<class T>(T) {
    const Dims& x = step.dims(0);
    normalize_rows<T>(
        step, step.data<T>(0), step.result<T>(0),
        {x[0] * x[1], elements(x, 2, x.size()), real_attr(step, "epsilon", 1e-5), true});
    scale_and_shift<T>(step, 1, 2, per_channel(x, x[1]));
  });
}

/// Opset 18 has scale and bias per group, 21 per channel.
Status group_norm(KernelContext& step) {
  const Dims& x = step.dims(0);
  const int64_t groups = int_attr(step, "num_groups", 1);
  return for_reals(step, [&]<class T>(T) {
    normalize_rows<T>(
        step, step.data<T>(0), step.result<T>(0),
        {x[0] * groups, elements(x, 1, x.size()) / groups, real_attr(step, "epsilon", 1e-5), true});
    const int64_t given = step.input_array(1).size();
    const std::vector<double> scale = step.reals(1), bias = step.reals(2);
    const int64_t inner = elements(x, 2, x.size());
    T* out = step.result<T>(0);
    for (int64_t n = 0; n < x[0] * x[1]; ++n) {
      const int64_t c = n % x[1];
      const auto i = static_cast<size_t>(given == x[1] ? c : c / (x[1] / groups));
      for (int64_t p = 0; p < inner; ++p) {
        T& v = out[n * inner + p];
        v = static_cast<T>(static_cast<double>(v) * scale[i] + bias[i]);
      }
    }
  });
}

/// com.microsoft's GroupNorm and SkipGroupNorm: gain and shift one a channel, SiLU on request.
Status ms_group_norm(KernelContext& step) {
  const Dims& x = step.dims(0);
  const bool last = int_attr(step, "channels_last", 1) != 0;
  const int64_t channels = last ? x.back() : x[1],
                pixels = elements(x) / std::max<int64_t>(1, x[0] * channels);
  const int64_t groups = int_attr(step, "groups", 1), each = channels / groups;
  const double epsilon = real_attr(step, "epsilon", 1e-5);
  const std::vector<double> gamma = step.reals(1), beta = step.reals(2), bias = step.reals(4);
  std::vector<double> sum = step.reals(0);
  const auto place = [&](int64_t n, int64_t c, int64_t p) {
    return static_cast<size_t>(last ? (n * pixels + p) * channels + c
                                    : (n * channels + c) * pixels + p);
  };
  if (step.has_input(3)) {
    Dims skip = step.dims(3);
    if (skip.size() == 2) skip.insert(last ? skip.begin() + 1 : skip.end(), x.size() - 2, 1);
    const std::vector<double> add = step.reals(3);
    const auto at = strided_offsets(x, broadcast_strides(skip, x));
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += add[static_cast<size_t>(at[i])];
  }
  for (int64_t n = 0; n < x[0]; ++n)
    for (int64_t c = 0; c < channels && !bias.empty(); ++c)
      for (int64_t p = 0; p < pixels; ++p) sum[place(n, c, p)] += bias[static_cast<size_t>(c)];
  std::vector<double> out(sum.size());
  for (int64_t g = 0; g < x[0] * groups; ++g) {
    const int64_t n = g / groups, first = g % groups * each;
    double mean = 0, square = 0;
    const auto visit = [&](auto f) {
      for (int64_t c = first; c < first + each; ++c)
        for (int64_t p = 0; p < pixels; ++p) f(static_cast<size_t>(c), place(n, c, p));
    };
    const auto count = static_cast<double>(each * pixels);
    visit([&](size_t, size_t i) { mean += sum[i] / count; });
    visit([&](size_t, size_t i) { square += (sum[i] - mean) * (sum[i] - mean) / count; });
    visit([&](size_t c, size_t i) {
      const double v = (sum[i] - mean) / std::sqrt(square + epsilon) * gamma[c] + beta[c];
      out[i] = int_attr(step, "activation", 0) != 0 ? v / (1 + std::exp(-v)) : v;
    });
  }
  step.put_output(0, out);
  if (step.output_count() > 1) step.put_output(1, sum);
  return ok();
}

struct Moments {
  std::vector<double> mean, variance;
};

/// Mean and (biased) variance of each channel over the batch and all pixels.
Moments channel_moments(const KernelContext& step, int64_t channels, int64_t inner) {
  const std::vector<double> x = step.reals(0);
  Moments m{std::vector<double>(static_cast<size_t>(channels), 0),
            std::vector<double>(static_cast<size_t>(channels), 0)};
  const double count = static_cast<double>(x.size()) / static_cast<double>(channels);
  const auto channel = [&](size_t i) {
    return i / static_cast<size_t>(inner) % static_cast<size_t>(channels);
  };
  for (size_t i = 0; i < x.size(); ++i) m.mean[channel(i)] += x[i] / count;
  for (size_t i = 0; i < x.size(); ++i) {
    const double d = x[i] - m.mean[channel(i)];
    m.variance[channel(i)] += d * d / count;
  }
  return m;
}

Status batch_norm(KernelContext& step) {
  const Dims& x = step.dims(0);
  const bool training = int_attr(step, "training_mode", 0) != 0;
  if (!training && step.opset() < 14)
    for (size_t i = 1; i < step.output_count(); ++i)
      if (step.has_output(i)) return refuse(step, "the training mode of opsets below 14");
  const bool spatial = step.opset() >= 9 || int_attr(step, "spatial", 1) != 0;
  const int64_t channels = spatial ? (x.size() > 1 ? x[1] : 1) : elements(x, 1, x.size());
  const int64_t inner = spatial && x.size() > 2 ? elements(x, 2, x.size()) : 1;
  Moments m{step.reals(3), step.reals(4)};
  if (training) {
    const double momentum = real_attr(step, "momentum", 0.9);
    const Moments now = channel_moments(step, channels, inner);
    for (size_t c = 0; c < m.mean.size(); ++c) {
      m.mean[c] = m.mean[c] * momentum + now.mean[c] * (1 - momentum);
      m.variance[c] = m.variance[c] * momentum + now.variance[c] * (1 - momentum);
    }
    if (step.output_count() > 1) step.put_output(1, m.mean);
    if (step.output_count() > 2) step.put_output(2, m.variance);
    m = now;
  }
  const std::vector<double> scale = step.reals(1), bias = step.reals(2);
  const double epsilon = real_attr(step, "epsilon", 1e-5);
  return for_reals(step, [&]<class T>(T) {
    const T* in = step.data<T>(0);
    T* out = step.result<T>(0);
    const int64_t rows = inner > 0 ? step.input_array(0).size() / inner : 0;
    step.pool().parallel_for(rows, 1 + 16384 / (inner + 1), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const auto c = static_cast<size_t>(r % channels);
        const double factor = scale[c] / std::sqrt(m.variance[c] + epsilon);
        const T a = static_cast<T>(factor), b = static_cast<T>(bias[c] - m.mean[c] * factor);
        for (int64_t i = r * inner; i < (r + 1) * inner; ++i) out[i] = in[i] * a + b;
      }
    });
  });
}

Status lrn_kernel(KernelContext& step) {
  const Dims& x = step.dims(0);
  const int64_t size = int_attr(step, "size", 1), inner = elements(x, 2, x.size());
  const double alpha = real_attr(step, "alpha", 1e-4), beta = real_attr(step, "beta", 0.75),
               bias = real_attr(step, "bias", 1);
  return for_reals(step, [&]<class T>(T) {
    const T* in = step.data<T>(0);
    T* out = step.result<T>(0);
    step.pool().parallel_for(x[0] * x[1], 1, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t c = r % x[1], from = std::max<int64_t>(0, c - (size - 1) / 2),
                      to = std::min(x[1] - 1, c + size / 2);
        for (int64_t i = 0; i < inner; ++i) {
          double sum = 0;
          for (int64_t k = from; k <= to; ++k) {
            const auto v = static_cast<double>(in[(r - c + k) * inner + i]);
            sum += v * v;
          }
          const double base = bias + alpha / static_cast<double>(size) * sum;
          out[r * inner + i] =
              static_cast<T>(static_cast<double>(in[r * inner + i]) * std::pow(base, -beta));
        }
      }
    });
  });
}

Status lp_norm(KernelContext& step) {
  const Result<int64_t> axis = axis_attr(step, -1, step.rank(0));
  if (!axis) return axis.errors();
  const bool one = int_attr(step, "p", 2) == 1;
  const Lines l = lines_along(step.dims(0), *axis);
  std::vector<double> x = step.reals(0);
  for (int64_t o = 0; o < l.outer; ++o)
    for (int64_t i = 0; i < l.inner; ++i) {
      double norm = 0;
      for (int64_t n = 0; n < l.length; ++n) {
        const double v = x[static_cast<size_t>(l.offset_of(o, i, n))];
        norm += one ? std::abs(v) : v * v;
      }
      if (!one) norm = std::sqrt(norm);
      if (norm == 0) norm = 1;  // a row of zeros stays one
      for (int64_t n = 0; n < l.length; ++n) x[static_cast<size_t>(l.offset_of(o, i, n))] /= norm;
    }
  return step.put_output(0, x), ok();
}

Status mvn_kernel(KernelContext& step) {
  const auto axes = normalize_axes(step.attr("axes", std::vector<int64_t>{0, 2, 3}), step.rank(0));
  if (!axes) return bad_node(step, axes.errors().front().message);
  Dims kept = step.dims(0);
  for (const int64_t axis : *axes) kept[static_cast<size_t>(axis)] = 1;
  std::vector<double> x = step.reals(0);
  const auto to = strided_offsets(step.dims(0), broadcast_strides(kept, step.dims(0)));
  const auto groups = static_cast<size_t>(elements(kept));
  const double count = groups > 0 ? static_cast<double>(x.size()) / static_cast<double>(groups) : 1;
  std::vector<double> mean(groups, 0), square(groups, 0);
  for (size_t i = 0; i < x.size(); ++i) mean[static_cast<size_t>(to[i])] += x[i] / count;
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] -= mean[static_cast<size_t>(to[i])];
    square[static_cast<size_t>(to[i])] += x[i] * x[i] / count;
  }
  for (size_t i = 0; i < x.size(); ++i)
    x[i] /= std::sqrt(square[static_cast<size_t>(to[i])]) + 1e-9;
  return step.put_output(0, x), ok();
}

constexpr KernelRow kNormKernels[] = {
    {"BatchNormalization", batch_norm},
    {"GroupNormalization", group_norm},
    {"InstanceNormalization", instance_norm},
    {"LRN", lrn_kernel},
    {"LayerNormalization", layer_norm},
    {"LpNormalization", lp_norm},
    {"MeanVarianceNormalization", mvn_kernel},
    {"RMSNormalization", rms_norm},
    {"SimplifiedLayerNormalization", simplified_layer_norm},
    {"GroupNorm", ms_group_norm, kMicrosoft},
    {"SkipGroupNorm", ms_group_norm, kMicrosoft},
    {"LayerNormalization", layer_norm, kMicrosoft},
    {"SimplifiedLayerNormalization", simplified_layer_norm, kMicrosoft},
};

}  // namespace

std::span<const KernelRow> norm_kernels() { return kNormKernels; }

}  // namespace accsim::sim::ref
