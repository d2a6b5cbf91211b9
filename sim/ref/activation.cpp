#include <algorithm>
#include <cmath>
#include <numbers>

#include "sim/operators/names.h"
#include "sim/operators/rules.h"
#include "sim/ref/kernel_parts.h"
#include "sim/ref/strided_loops.h"

namespace accsim::sim::ref {
namespace {

/// out = make<T>(step)(v) for reals; `make` reads the attributes.
template <class Make>
Status map_activation(KernelContext& step, Make make) {
  return for_reals(step, [&]<class T>(T) {
    map_elements(step.pool(), step.data<T>(0), step.result<T>(0), step.input_array(0).size(),
                 make.template operator()<T>());
  });
}

/// out = function(v, alpha) for reals, both of one type.
template <class Function>
Status map_by_alpha(KernelContext& step, double fallback, Function function) {
  const double alpha = real_attr(step, "alpha", fallback);
  return map_activation(step, [=]<class T>() {
    const T a = static_cast<T>(alpha);
    return [=](T v) { return function(v, a); };
  });
}

template <class T>
T tanh_gelu(T v) {
  const T inner = static_cast<T>(std::numbers::sqrt2 * std::numbers::inv_sqrtpi) *
                  (v + static_cast<T>(0.044715) * v * v * v);
  return static_cast<T>(0.5) * v * (1 + std::tanh(inner));
}

template <class T>
T erf_gelu(T v) {
  return static_cast<T>(0.5) * v * (1 + std::erf(v * static_cast<T>(std::numbers::sqrt2 / 2)));
}

/// ln(1 + e^v) without overflow.
template <class T>
T softplus(T v) {
  return std::log1p(std::exp(-std::abs(v))) + (v > 0 ? v : T{});
}

template <class T>
T swish(T v, T alpha) {
  return v / (1 + std::exp(-alpha * v));
}

Status celu(KernelContext& step) {
  return map_by_alpha(step, 1, []<class T>(T v, T a) {
    return (v > 0 ? v : T{}) + std::min(a * std::expm1(v / a), T{});
  });
}

Status elu(KernelContext& step) {
  return map_by_alpha(step, 1, []<class T>(T v, T a) { return v < 0 ? a * std::expm1(v) : v; });
}

Status gelu(KernelContext& step) {
  if (Status s = one_of(step, "approximate", "none", "none tanh"); !s) return s;
  const bool quick = step.attr("approximate", "none") == "tanh";
  if (quick)
    return map_activation(step, []<class T>() { return [](T v) { return tanh_gelu(v); }; });
  return map_activation(step, []<class T>() { return [](T v) { return erf_gelu(v); }; });
}

Status hard_sigmoid(KernelContext& step) {
  const double alpha = real_attr(step, "alpha", 0.2), beta = real_attr(step, "beta", 0.5);
  return map_activation(step, [=]<class T>() {
    const T a = static_cast<T>(alpha), b = static_cast<T>(beta);
    // NaN stays: it is the first argument of both.
    return [=](T v) { return std::max(std::min(a * v + b, T{1}), T{0}); };
  });
}

Status hard_swish(KernelContext& step) {
  return map_activation(step, []<class T>() {
    return [](T v) { return v * std::max(T{0}, std::min(T{1}, v / 6 + T{1} / 2)); };
  });
}

Status leaky_relu(KernelContext& step) {
  return map_by_alpha(step, 0.01, []<class T>(T v, T a) { return v < 0 ? a * v : v; });
}

Status mish(KernelContext& step) {
  return map_activation(step,
                        []<class T>() { return [](T v) { return v * std::tanh(softplus(v)); }; });
}

Status selu(KernelContext& step) {
  const double alpha = real_attr(step, "alpha", 1.67326319217681884765625);
  const double gamma = real_attr(step, "gamma", 1.05070102214813232421875);
  return map_activation(step, [=]<class T>() {
    const T a = static_cast<T>(alpha), g = static_cast<T>(gamma);
    return [=](T v) { return v > 0 ? g * v : g * a * std::expm1(v); };
  });
}

Status shrink_kernel(KernelContext& step) {
  const double lambda = real_attr(step, "lambd", 0.5), bias = real_attr(step, "bias", 0);
  return map_activation(step, [=]<class T>() {
    const T l = static_cast<T>(lambda), b = static_cast<T>(bias);
    return [=](T v) { return v < -l ? v + b : v > l ? v - b : T{}; };
  });
}

Status softplus_kernel(KernelContext& step) {
  return map_activation(step, []<class T>() { return [](T v) { return softplus(v); }; });
}

Status softsign(KernelContext& step) {
  return map_activation(step, []<class T>() { return [](T v) { return v / (1 + std::abs(v)); }; });
}

Status swish_kernel(KernelContext& step) {
  return map_by_alpha(step, 1, []<class T>(T v, T a) { return swish(v, a); });
}

/// swish(a) * b.
Status swiglu(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  const double alpha = real_attr(step, "alpha", 1);
  const std::vector<double> a = step.reals(0), b = step.reals(1);
  // A function of one element is asked for many values at a time, with one constant for all.
  const auto element = [](const std::vector<double>& v, size_t i) {
    return v[v.size() == 1 ? 0 : i];
  };
  std::vector<double> out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = swish(element(a, i), alpha) * element(b, i);
  return step.put_output(0, out), ok();
}

Status quick_gelu(KernelContext& step) {
  return map_by_alpha(step, 1.702, []<class T>(T v, T a) { return swish(v, a); });
}

Status thresholded_relu(KernelContext& step) {
  return map_by_alpha(step, 1, []<class T>(T v, T a) { return v > a ? v : T{}; });
}

/// gelu(x + bias), bias (optional) along the last dim.
template <bool kTanh>
Status bias_gelu(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  std::vector<double> x = step.reals(0);
  const std::vector<double> bias = step.reals(1);
  for (size_t i = 0; i < x.size(); ++i) {
    if (!bias.empty()) x[i] += bias[i % bias.size()];
    x[i] = kTanh ? tanh_gelu(x[i]) : erf_gelu(x[i]);
  }
  step.put_output(0, x);
  return ok();
}

/// left * gelu(right) of the two halves of each row of x + bias.
Status bias_split_gelu(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  const std::vector<double> x = step.reals(0), bias = step.reals(1);
  const size_t half = bias.size() / 2;
  std::vector<double> out;
  out.reserve(x.size() / 2);
  for (size_t row = 0; row < x.size(); row += 2 * half)
    for (size_t i = 0; i < half; ++i)
      out.push_back((x[row + i] + bias[i]) * erf_gelu(x[row + half + i] + bias[half + i]));
  step.put_output(0, out);
  return ok();
}

constexpr KernelRow kActivationKernels[] = {
    {"Celu", celu},
    {"Elu", elu},
    {"Gelu", gelu},
    {"HardSigmoid", hard_sigmoid},
    {"HardSwish", hard_swish},
    {"LeakyRelu", leaky_relu},
    {"Mish", mish},
    {"Selu", selu},
    {"Shrink", shrink_kernel},
    {"Softplus", softplus_kernel},
    {"Softsign", softsign},
    {"SwiGLU", swiglu},
    {"Swish", swish_kernel},
    {"ThresholdedRelu", thresholded_relu},
    {"Gelu", gelu, kMicrosoft},
    {"BiasGelu", bias_gelu<false>, kMicrosoft},
    {"BiasSplitGelu", bias_split_gelu, kMicrosoft},
    {"FastGelu", bias_gelu<true>, kMicrosoft},
    {"QuickGelu", quick_gelu, kMicrosoft},
};

}  // namespace

std::span<const KernelRow> activation_kernels() { return kActivationKernels; }

}  // namespace accsim::sim::ref
