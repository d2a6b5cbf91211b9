#include "sim/ref/quant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/operators/fold.h"
#include "sim/operators/names.h"
#include "sim/operators/reduction/reduction_rules.h"
#include "sim/operators/rules.h"
#include "sim/ref/conv.h"
#include "sim/ref/matmul.h"

namespace accsim::sim::ref {
namespace {

/// Index of the scale of element n: one scale, one per index of an axis, or one per block of it.
class Scales {
 public:
  static Result<Scales> of_step(const KernelContext& step) {
    Scales s;
    s.count_ = static_cast<int64_t>(elements(step.dims(1)));
    if (s.count_ == 1) return s;
    const Result<int64_t> axis = axis_attr(step, 1, step.rank(0));
    if (!axis) return axis.errors();
    s.lines_ = lines_along(step.dims(0), *axis);
    s.block_ = int_attr(step, "block_size", 0);
    return s;
  }
  size_t scale_index(size_t n) const {
    if (count_ == 1) return 0;
    const auto i = static_cast<int64_t>(n);
    const int64_t along = i / lines_.inner % lines_.length;
    if (block_ == 0) return static_cast<size_t>(along);
    const int64_t blocks = (lines_.length + block_ - 1) / block_;
    const int64_t outer = i / (lines_.inner * lines_.length);
    return static_cast<size_t>((outer * blocks + along / block_) * lines_.inner + i % lines_.inner);
  }

 private:
  Lines lines_;
  int64_t count_ = 1, block_ = 0;
};

Status quantize_kernel(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  const Result<Scales> scales = Scales::of_step(step);
  if (!scales) return scales.errors();
  const DType type = step.output(0).dtype;
  const bool saturate = int_attr(step, "saturate", 1) != 0;
  std::vector<double> x = step.reals(0);
  const std::vector<double> scale = step.reals(1), zero = step.reals(2);
  // The quotient is a float, as the runtimes compute it; attribute precision may ask for less.
  const DType precision = step.dtype(1) == DType::float64 ? DType::float64 : DType::float32;
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t s = scales->scale_index(i);
    if (is_float(type))
      x[i] = round_element(
          type, round_to(precision, x[i] / scale[s]) + (zero.empty() ? 0 : zero[s]), saturate);
    else
      x[i] = quantized_value(x[i], scale[s], zero.empty() ? 0 : zero[s], type);
  }
  return step.put_output(0, x), ok();
}

Status dequantize_kernel(KernelContext& step) {
  const Result<Scales> scales = Scales::of_step(step);
  if (!scales) return scales.errors();
  std::vector<double> x = step.reals(0);
  const std::vector<double> scale = step.reals(1), zero = step.reals(2);
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t s = scales->scale_index(i);
    x[i] = (x[i] - (zero.empty() ? 0 : zero[s])) * scale[s];
  }
  return step.put_output(0, x), ok();
}

Status dynamic_quantize(KernelContext& step) {
  std::vector<double> x = step.reals(0);
  const auto [scale, zero] = found_scale(x);
  for (double& v : x) v = scale == 0 ? zero : quantized_value(v, scale, zero, DType::uint8);
  step.put_output(0, x);
  if (step.output_count() > 1) step.put_output(1, std::vector<double>{scale});
  if (step.output_count() > 2) step.put_output(2, std::vector<double>{zero});
  return ok();
}

/// Inputs x, x scale, x zero, w, w scale, w zero, y scale, y zero, bias (in int32, of scale xs *
/// ws).
Status qlinear_conv(KernelContext& step) {
  const bool last = int_attr(step, "channels_last", 0) != 0;
  if (last) return refuse(step, "channels_last isn't computed");
  const ConvPorts ports{0, 3, 8, false};
  const Result<ConvShape> shape = conv_shape(step, ports);
  if (!shape) return shape.errors();
  if (Status s = check_weight_zero(step, *shape, 5); !s) return s;
  std::vector<double> sums =
      convolve_integers(step, *shape, ports, step.real_or(2, 0), step.reals(5));
  const std::vector<double> w_scale = step.reals(4), bias = step.reals(8);
  const double x_scale = step.real_or(1, 1), y_scale = step.real_or(6, 1),
               y_zero = step.real_or(7, 0);
  const size_t scales = w_scale.size();
  if (scales != 1 && static_cast<int64_t>(scales) != shape->out_channels)
    return bad_node(step, "the weights' scale must be one, or one an output channel");
  std::vector<float> factors(scales);
  for (size_t c = 0; c < scales; ++c) factors[c] = step_factor(x_scale, w_scale[c], y_scale);
  const Dims& y = step.out_dims(0);
  const auto pixels = static_cast<size_t>(std::max<int64_t>(elements(y, 2, y.size()), 1));
  for (size_t i = 0; i < sums.size(); ++i) {
    const size_t c = i / pixels % static_cast<size_t>(y[1]);
    const double sum = sums[i] + (bias.empty() ? 0 : bias[c]);
    sums[i] = requantized_sum(sum, factors[scales == 1 ? 0 : c], y_zero, step.output(0).dtype);
  }
  return step.put_output(0, sums), ok();
}

/// Inputs a, a scale, a zero, b, b scale, b zero, y scale, y zero. Scales may be one a row of a and
/// one a column of b.
Status qlinear_matmul(KernelContext& step) {
  std::vector<double> a = step.reals(0), b = step.reals(3);
  subtract_zero(a, step.dims(0), step.reals(2), true);
  subtract_zero(b, step.dims(3), step.reals(5), false);
  std::vector<double> sums = matmul_reals(step, a, step.dims(0), b, step.dims(3));
  const std::vector<double> a_scale = step.reals(1), b_scale = step.reals(4),
                            y_scale = step.reals(6);
  if (a_scale.empty() || b_scale.empty()) return bad_node(step, "a scale is empty");
  if (y_scale.size() != 1) return refuse(step, "more than one output scale");
  const auto columns = static_cast<size_t>(std::max<int64_t>(step.dims(3).back(), 1));
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i] = requantized_sum(sums[i],
                              step_factor(a_scale[i / columns % a_scale.size()],
                                          b_scale[i % columns % b_scale.size()], y_scale[0]),
                              step.real_or(7, 0), step.output(0).dtype);
  return step.put_output(0, sums), ok();
}

/// The mean of reals that integers stand for, as integers again: inputs data, scale and zero point,
/// the same of the result.
Status qlinear_reduce_mean(KernelContext& step) {
  const Result<std::vector<int64_t>> axes = reduced_axes(step, step.input_count());
  if (!axes) return axes.errors();
  Dims kept = step.dims(0);
  for (const int64_t axis : *axes) kept[static_cast<size_t>(axis)] = 1;
  const std::vector<double> in = dequantized_input(step, 0, 1, 2);
  std::vector<double> out(static_cast<size_t>(elements(kept)), 0);
  const auto to = strided_offsets(step.dims(0), broadcast_strides(kept, step.dims(0)));
  for (size_t i = 0; i < in.size(); ++i) out[static_cast<size_t>(to[i])] += in[i];
  for (double& v : out) v /= static_cast<double>(in.size()) / static_cast<double>(out.size());
  put_quantized(step, out, 3, 4);
  return ok();
}

/// v rounded to a whole number in the way that QONNX's attribute names.
double round_by_mode(const std::string& mode, double v) {
  if (mode == "CEIL") return std::ceil(v);
  if (mode == "FLOOR") return std::floor(v);
  if (mode == "ROUND_TO_ZERO" || mode == "DOWN") return std::trunc(v);
  return std::nearbyint(v);
}

/// QONNX's Quant: x on the grid of scale and zero point that so many bits hold, as a real again.
Status fake_quantise(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  const std::string mode = step.attr("rounding_mode", "ROUND");
  if (mode != "ROUND" && mode != "CEIL" && mode != "FLOOR" && mode != "ROUND_TO_ZERO" &&
      mode != "DOWN")
    return refuse(step, fmt::format("rounding_mode '{}' isn't computed", mode));
  const bool is_signed = int_attr(step, "signed", 1) != 0,
             narrow = int_attr(step, "narrow", 0) != 0;
  const double all = std::exp2(step.real_or(3, 8));
  const double low = is_signed ? -all / 2 + (narrow ? 1 : 0) : 0;
  const double high = is_signed ? all / 2 - 1 : all - (narrow ? 2 : 1);
  if (!(low <= high))
    return bad_node(step, fmt::format("there are no integers of {} bits", step.real_or(3, 8)));
  const Dims& dims = step.dims(0);
  std::vector<double> x = step.reals(0);
  const std::vector<double> scale = step.reals(1), zero = step.reals(2);
  const auto scale_at = strided_offsets(dims, broadcast_strides(step.dims(1), dims));
  const auto zero_at = strided_offsets(dims, broadcast_strides(step.dims(2), dims));
  for (size_t i = 0; i < x.size(); ++i) {
    const double s = scale[static_cast<size_t>(scale_at[i])];
    const double z = zero[static_cast<size_t>(zero_at[i])];
    x[i] = (round_by_mode(mode, std::clamp(x[i] / s + z, low, high)) - z) * s;
  }
  return step.put_output(0, x), ok();
}

/// FINN's MultiThreshold: how many thresholds of its channel an element reaches.
Status multi_threshold(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  const Dims& x = step.dims(0);
  const bool last = step.attr("data_layout", "NCHW").ends_with('C');
  const int64_t channels = last ? x.back() : x[1];
  const int64_t inner = last ? 1 : elements(x, 2, x.size());
  const int64_t rows = step.dims(1)[0], each = step.dims(1)[1];
  const double scale = real_attr(step, "out_scale", 1), bias = real_attr(step, "out_bias", 0);
  std::vector<double> v = step.reals(0);
  const std::vector<double> thresholds = step.reals(1);
  for (size_t i = 0; i < v.size(); ++i) {
    const int64_t channel = static_cast<int64_t>(i) / inner % channels;
    const auto first = thresholds.begin() + (rows == 1 ? 0 : channel) * each;
    const auto reached = std::count_if(first, first + each, [&](double t) { return v[i] >= t; });
    v[i] = static_cast<double>(reached) * scale + bias;
  }
  return step.put_output(0, v), ok();
}

constexpr KernelRow kQuantKernels[] = {
    {"DequantizeLinear", dequantize_kernel},
    {"DynamicQuantizeLinear", dynamic_quantize},
    {"QLinearConv", qlinear_conv},
    {"QLinearMatMul", qlinear_matmul},
    {"QuantizeLinear", quantize_kernel},
    {"DequantizeLinear", dequantize_kernel, kMicrosoft},
    {"QLinearConv", qlinear_conv, kMicrosoft},
    {"QuantizeLinear", quantize_kernel, kMicrosoft},
    {"QLinearReduceMean", qlinear_reduce_mean, kMicrosoft},
    {"MultiThreshold", multi_threshold, kFinn},
    {"Quant", fake_quantise, kQonnx},
};

/// `q` as the nearest number that a type holds; the lowest one for NaN. Of truth values 0 and 1.
double nearest_held(double q, DType type) {
  const hw::NumberFormat* const to = format_of(type);
  const double low = to != nullptr ? to->lowest() : 0, high = to != nullptr ? to->highest() : 1;
  return std::isnan(q) ? low : std::clamp(q, low, high);
}

}  // namespace

double quantized_value(double v, double scale, double zero, DType type) {
  // The quotient in single precision decides ties, as in the operators' definition.
  const double q = std::nearbyint(static_cast<double>(static_cast<float>(v / scale))) + zero;
  return nearest_held(q, type);
}

float step_factor(double a_scale, double b_scale, double y_scale) {
  return static_cast<float>(a_scale) * static_cast<float>(b_scale) / static_cast<float>(y_scale);
}

double requantized_sum(double sum, float factor, double zero, DType type) {
  const double q = static_cast<double>(std::nearbyint(static_cast<float>(sum) * factor)) + zero;
  return nearest_held(q, type);
}

double nearest_integer(float v, DType type) { return requantized_sum(1, v, 0, type); }

FoundScale found_scale(std::span<const double> values) {
  double low = 0, high = 0;
  for (const double v : values) low = std::min(low, v), high = std::max(high, v);
  // In single precision, as the operator's definition computes it.
  const float scale = (static_cast<float>(high) - static_cast<float>(low)) / 255;
  const float start = scale == 0 ? 0 : static_cast<float>(0 - low) / scale;
  return {static_cast<double>(scale),
          static_cast<double>(std::nearbyint(std::clamp(start, 0.0F, 255.0F)))};
}

void round_to_found_scale(std::span<double> values) {
  const auto [scale, zero] = found_scale(values);
  for (double& v : values)
    v = scale == 0 ? 0 : (quantized_value(v, scale, zero, DType::uint8) - zero) * scale;
}

std::vector<double> dequantized_input(const KernelContext& step, size_t value, size_t scale,
                                      size_t zero) {
  std::vector<double> x = step.reals(value);
  const double s = step.real_or(scale, 1), z = step.real_or(zero, 0);
  for (double& v : x) v = (v - z) * s;
  return x;
}

void put_quantized(KernelContext& step, const std::vector<double>& values, size_t scale,
                   size_t zero) {
  if (!step.has_output(0)) return;
  const double s = step.real_or(scale, 1), z = step.real_or(zero, 0);
  std::vector<double> q(values.size());
  for (size_t i = 0; i < q.size(); ++i)
    q[i] = quantized_value(values[i], s, z, step.output(0).dtype);
  step.put_output(0, q);
}

std::span<const KernelRow> quant_kernels() { return kQuantKernels; }

}  // namespace accsim::sim::ref
