#include <algorithm>
#include <cmath>

#include "sim/operators/fold.h"
#include "sim/operators/names.h"
#include "sim/operators/rules.h"
#include "sim/ref/kernel_parts.h"
#include "sim/ref/matmul.h"
#include "sim/ref/pooling.h"
#include "sim/ref/quant.h"
#include "sim/ref/strided_loops.h"

namespace accsim::sim::ref {
namespace {

/// com.microsoft: the sum of input and skip (and bias), normalised; the sum is output 3.
template <bool kCentre>
Status skip_norm(KernelContext& step) {
  const size_t bias_port = kCentre ? 4 : 3;
  std::vector<double> x = step.reals(0);
  const std::vector<double> skip = step.reals(1), gamma = step.reals(2),
                            beta = kCentre ? step.reals(3) : std::vector<double>{},
                            bias = step.reals(bias_port);
  const auto at = strided_offsets(step.dims(0), broadcast_strides(step.dims(1), step.dims(0)));
  if (step.dims(0).back() == 0) return refuse(step, "empty rows have no mean");
  const auto width = static_cast<size_t>(step.dims(0).back());
  for (size_t i = 0; i < x.size(); ++i)
    x[i] += skip[static_cast<size_t>(at[i])] + (bias.empty() ? 0 : bias[i % width]);
  if (step.output_count() > 3) step.put_output(3, x);
  const double epsilon = real_attr(step, "epsilon", kCentre ? 1e-12 : 1e-5);
  std::vector<double> means, inverses;
  for (size_t r = 0; r < x.size(); r += width) {
    double mean = 0, square = 0;
    for (size_t i = 0; kCentre && i < width; ++i) mean += x[r + i] / static_cast<double>(width);
    for (size_t i = 0; i < width; ++i) square += (x[r + i] - mean) * (x[r + i] - mean);
    const double inverse = 1 / std::sqrt(square / static_cast<double>(width) + epsilon);
    for (size_t i = 0; i < width; ++i)
      x[r + i] = (x[r + i] - mean) * inverse * gamma[i] + (beta.empty() ? 0 : beta[i]);
    means.push_back(mean);
    inverses.push_back(inverse);
  }
  step.put_output(0, x);
  if (step.output_count() > 1) step.put_output(1, means);
  if (step.output_count() > 2) step.put_output(2, inverses);
  return ok();
}

Status bias_add(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  std::vector<double> sum = step.reals(0);
  const std::vector<double> bias = step.reals(1), skip = step.reals(2);
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += bias[i % bias.size()] + skip[i];
  step.put_output(0, sum);
  return ok();
}

/// Attribute "activation" applied to output 0, which is float.
Status activate_output(KernelContext& step) {
  const std::string name = step.attr("activation", "");
  if (name.empty()) return ok();
  std::vector<double> parameters;
  if (const Attribute* a = step.find_attribute("activation_params"))
    if (const auto* list = std::get_if<std::vector<double>>(&a->value)) parameters = *list;
  const double alpha =
      real_attr(step, "activation_alpha", parameters.empty() ? 0.01 : parameters[0]);
  const double beta = real_attr(step, "activation_beta", parameters.size() < 2 ? 0 : parameters[1]);
  std::optional<Activation> f = find_activation(name);
  if (name == op::kClip)
    f = Activation{[](double v, double low, double high) { return std::clamp(v, low, high); }};
  if (!f) return refuse(step, "the fused activation isn't computed");
  if (!parameters.empty() || step.has_attr("activation_alpha")) f->alpha = alpha;
  if (parameters.size() > 1 || step.has_attr("activation_beta")) f->beta = beta;
  if (name == op::kClip && f->beta < f->alpha) return bad_node(step, "Clip's bounds are crossed");
  float* out = step.result<float>(0);
  for (int64_t i = 0; i < step.output_array(0).size(); ++i)
    out[i] = static_cast<float>((*f)(static_cast<double>(out[i])));
  return ok();
}

bool all_floats(const KernelContext& step) {
  for (size_t i = 0; i < step.input_count(); ++i)
    if (step.has_input(i) && step.input_array(i).kind() != ElementKind::f32) return false;
  return true;
}

Status fused_conv(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  if (!all_floats(step)) return refuse(step, "is computed for floats only");
  if (Status s = find_kernel("", op::kConv)->run(step); !s) return s;
  if (step.has_input(3)) {
    float* out = step.result<float>(0);
    const float* z = step.data<float>(3);
    for (int64_t i = 0; i < step.output_array(0).size(); ++i) out[i] += z[i];
  }
  return activate_output(step);
}

Status fused_gemm(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  if (!all_floats(step)) return refuse(step, "is computed for floats only");
  if (Status s = gemm_kernel(step); !s) return s;
  return activate_output(step);
}

struct Turned {
  Dims dims;
  std::vector<double> values;
};

/// A FusedMatMul operand after its transpositions: `batch` moves the first dim behind the other
/// batch dims, `matrix` swaps the last two.
Turned turned_operand(const KernelContext& step, size_t i, const char* batch, const char* matrix) {
  Turned t{step.dims(i), step.reals(i)};
  if (t.dims.size() < 2) return t;
  Strides strides = row_major(t.dims);
  if (int_attr(step, batch, 0) != 0 && t.dims.size() > 2) {
    std::rotate(t.dims.begin(), t.dims.begin() + 1, t.dims.end() - 1);
    std::rotate(strides.begin(), strides.begin() + 1, strides.end() - 1);
  }
  if (int_attr(step, matrix, 0) != 0) {
    std::swap(t.dims[t.dims.size() - 1], t.dims[t.dims.size() - 2]);
    std::swap(strides[t.dims.size() - 1], strides[t.dims.size() - 2]);
  }
  std::vector<double> out;
  for (const int64_t at : strided_offsets(t.dims, strides))
    out.push_back(t.values[static_cast<size_t>(at)]);
  t.values = std::move(out);
  return t;
}

Status fused_matmul(KernelContext& step) {
  const Turned a = turned_operand(step, 0, "transBatchA", "transA"),
               b = turned_operand(step, 1, "transBatchB", "transB");
  std::vector<double> out = matmul_reals(step, a.values, a.dims, b.values, b.dims);
  const double alpha = real_attr(step, "alpha", 1);
  for (double& v : out) v *= alpha;
  return step.put_output(0, out), ok();
}

/// What QLinearAdd and QLinearMul compute of two integers, in single precision in the order that
/// ONNX Runtime has on processors with fused multiply-add: which way a half is rounded depends on
/// it.
class BinaryScales {
 public:
  explicit BinaryScales(const KernelContext& step)
      : a_zero_(float_or(step, 2, 0)),
        b_zero_(float_or(step, 5, 0)),
        zero_(float_or(step, 7, 0)),
        a_(float_or(step, 1, 1) / float_or(step, 6, 1)),
        b_(float_or(step, 4, 1) / float_or(step, 6, 1)),
        both_(float_or(step, 1, 1) * float_or(step, 4, 1) / float_or(step, 6, 1)),
        fixed_(zero_ - std::fma(a_, a_zero_, b_ * b_zero_)),
        type_(step.output(0).dtype) {}

  double quantised_sum(double a, double b) const {
    const float rest = std::fma(static_cast<float>(b), b_, fixed_);
    return nearest_integer(std::fma(static_cast<float>(a), a_, rest), type_);
  }
  double quantised_product(double a, double b) const {
    const float both = (static_cast<float>(a) - a_zero_) * (static_cast<float>(b) - b_zero_);
    return nearest_integer(both * both_ + zero_, type_);
  }

 private:
  static float float_or(const KernelContext& step, size_t port, double fallback) {
    return static_cast<float>(step.real_or(port, fallback));
  }

  float a_zero_, b_zero_, zero_;
  float a_, b_, both_;  ///< from steps of the operands, and of their product, to the result's
  float fixed_;         ///< what zero points add to a sum
  DType type_;
};

/// A (x) B of integers: inputs A, its scale and zero point, the same of B, of C.
template <bool kMultiply>
Status qlinear_binary(KernelContext& step) {
  const std::vector<double> a = step.reals(0), b = step.reals(3);
  const BinaryScales scales(step);
  std::vector<double> out(static_cast<size_t>(elements(step.out_dims(0))));
  broadcast_binary<double>(step.pool(), {a.data(), step.dims(0)}, {b.data(), step.dims(3)},
                           out.data(), step.out_dims(0), [&](double x, double y) {
                             return kMultiply ? scales.quantised_product(x, y)
                                              : scales.quantised_sum(x, y);
                           });
  return step.put_output(0, out), ok();
}

/// Inputs condition, then X and Y with their scales and zero points, then those of the result.
Status qlinear_where(KernelContext& step) {
  const std::vector<double> take = step.reals(0), x = dequantized_input(step, 1, 2, 3),
                            y = dequantized_input(step, 4, 5, 6);
  const Dims& dims = step.out_dims(0);
  const auto at = strided_offsets(dims, broadcast_strides(step.dims(0), dims)),
             x_at = strided_offsets(dims, broadcast_strides(step.dims(1), dims)),
             y_at = strided_offsets(dims, broadcast_strides(step.dims(4), dims));
  std::vector<double> out(at.size());
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = take[static_cast<size_t>(at[i])] != 0 ? x[static_cast<size_t>(x_at[i])]
                                                   : y[static_cast<size_t>(y_at[i])];
  return put_quantized(step, out, 7, 8), ok();
}

Status qlinear_sigmoid(KernelContext& step) {
  std::vector<double> x = dequantized_input(step, 0, 1, 2);
  for (double& v : x) v = 1 / (1 + std::exp(-v));
  return put_quantized(step, x, 3, 4), ok();
}

Status qlinear_leaky_relu(KernelContext& step) {
  const double alpha = real_attr(step, "alpha", 0.01);
  std::vector<double> x = dequantized_input(step, 0, 1, 2);
  for (double& v : x) v = v < 0 ? alpha * v : v;
  return put_quantized(step, x, 3, 4), ok();
}

Status qlinear_concat(KernelContext& step) {
  const Result<int64_t> axis = axis_attr(step, 1, step.rank(2));
  if (!axis) return axis.errors();
  const Lines to = lines_along(step.out_dims(0), *axis);
  std::vector<double> out(static_cast<size_t>(elements(step.out_dims(0))));
  int64_t start = 0;
  for (size_t i = 2; i + 2 < step.input_count(); i += 3) {
    const std::vector<double> part = dequantized_input(step, i, i + 1, i + 2);
    const Lines from = lines_along(step.dims(i), *axis);
    for (int64_t o = 0; o < from.outer; ++o)
      std::copy_n(part.begin() + from.offset_of(o, 0, 0), from.length * from.inner,
                  out.begin() + to.offset_of(o, 0, start));
    start += from.length;
  }
  return put_quantized(step, out, 0, 1), ok();
}

Status qlinear_average_pool(KernelContext& step) {
  if (int_attr(step, "channels_last", 0) != 0) return refuse(step, "channels_last isn't computed");
  const Result<AverageShape> shape = average_shape(step, false);
  if (!shape) return shape.errors();
  const std::vector<double> x = dequantized_input(step, 0, 1, 2);
  std::vector<double> out(static_cast<size_t>(elements(step.out_dims(0))));
  average_planes(step.pool(), *shape, step.dims(0)[0] * step.dims(0)[1], x.data(), out.data());
  return put_quantized(step, out, 3, 4), ok();
}

Status qlinear_global_average_pool(KernelContext& step) {
  const bool last = int_attr(step, "channels_last", 0) != 0;
  const Dims& d = step.dims(0);
  const int64_t channels = last ? d.back() : d[1];
  const int64_t pixels = last ? elements(d, 1, d.size() - 1) : elements(d, 2, d.size());
  const std::vector<double> x = dequantized_input(step, 0, 1, 2);
  std::vector<double> out(static_cast<size_t>(d[0] * channels), 0);
  for (size_t i = 0; i < x.size(); ++i) {
    const auto n = static_cast<int64_t>(i);
    const int64_t at = last ? n / (pixels * channels) * channels + n % channels : n / pixels;
    out[static_cast<size_t>(at)] += x[i] / static_cast<double>(pixels);
  }
  return put_quantized(step, out, 3, 4), ok();
}

/// Softmax of dequantised rows; before opset 13 (attribute opset) dims from the axis on are one.
Status qlinear_softmax(KernelContext& step) {
  const Result<int64_t> axis = axis_attr(step, -1, step.rank(0));
  if (!axis) return axis.errors();
  const Lines l = lines_along(step.dims(0), *axis);
  const int64_t inner = int_attr(step, "opset", 13) < 13 ? 1 : l.inner;
  std::vector<double> x = dequantized_input(step, 0, 1, 2);
  if (x.empty()) return step.output_array(0), ok();
  const int64_t length = l.length * (l.inner / inner);
  for (int64_t row = 0; row < l.outer * inner; ++row) {
    const auto at = [&](int64_t i) -> double& {
      return x[static_cast<size_t>((row / inner * length + i) * inner + row % inner)];
    };
    double largest = at(0), sum = 0;
    for (int64_t i = 1; i < length; ++i) largest = std::max(largest, at(i));
    for (int64_t i = 0; i < length; ++i) sum += at(i) = std::exp(at(i) - largest);
    for (int64_t i = 0; i < length; ++i) at(i) /= sum;
  }
  return put_quantized(step, x, 3, 4), ok();
}

constexpr KernelRow kContribKernels[] = {
    {"BiasAdd", bias_add, kMicrosoft},
    {"FusedConv", fused_conv, kMicrosoft},
    {"FusedGemm", fused_gemm, kMicrosoft},
    {"FusedMatMul", fused_matmul, kMicrosoft},
    {"QLinearAdd", qlinear_binary<false>, kMicrosoft},
    {"QLinearAveragePool", qlinear_average_pool, kMicrosoft},
    {"QLinearConcat", qlinear_concat, kMicrosoft},
    {"QLinearGlobalAveragePool", qlinear_global_average_pool, kMicrosoft},
    {"QLinearLeakyRelu", qlinear_leaky_relu, kMicrosoft},
    {"QLinearMul", qlinear_binary<true>, kMicrosoft},
    {"QLinearSigmoid", qlinear_sigmoid, kMicrosoft},
    {"QLinearSoftmax", qlinear_softmax, kMicrosoft},
    {"QLinearWhere", qlinear_where, kMicrosoft},
    {"SkipLayerNormalization", skip_norm<true>, kMicrosoft},
    {"SkipSimplifiedLayerNormalization", skip_norm<false>, kMicrosoft},
};

}  // namespace

std::span<const KernelRow> contrib_kernels() { return kContribKernels; }

}  // namespace accsim::sim::ref
