#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "sim/operators/fold.h"
#include "sim/operators/rules.h"
#include "sim/ref/kernel_parts.h"
#include "sim/ref/strided_loops.h"

namespace accsim::sim::ref {
namespace {

/// out = F::apply_to(a) for reals. Integers go by the op table's value rule.
template <class F>
Status unary_kernel(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  if (!is_real(step.input_array(0))) return by_value_rule(step);
  return with_real_kind(step.input_array(0), [&]<class T>(T) {
    map_elements(step.pool(), step.data<T>(0), step.result<T>(0), step.input_array(0).size(),
                 [](T v) { return F::apply_to(v); });
  });
}

/// out = F()(a, b), broadcast; reals of one type, others by the value rule. R is the type of the
/// result, or void for that of the operands.
template <class F, class R = void>
Status binary_kernel(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  const Array &a = step.input_array(0), &b = step.input_array(1);
  if (!is_real(a) || a.dtype() != b.dtype()) return by_value_rule(step);
  return with_real_kind(a, [&]<class T>(T) {
    using Out = std::conditional_t<std::is_void_v<R>, T, R>;
    broadcast_binary<T>(step.pool(), {a.data<T>(), a.dims()}, {b.data<T>(), b.dims()},
                        step.result<Out>(0), step.out_dims(0),
                        [](T x, T y) { return static_cast<Out>(F()(x, y)); });
  });
}

/// Whether F()(a, b) holds.
template <class F>
Status comparison_kernel(KernelContext& step) {
  return binary_kernel<F, uint8_t>(step);
}

/// Any number of inputs, folded from the left; `mean` divides by how many there are.
template <class F, bool kMean = false>
Status variadic_kernel(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  for (size_t i = 0; i < step.input_count(); ++i)
    if (!step.has_input(i) || !is_real(step.input_array(i)) || step.dtype(i) != step.dtype(0))
      return by_value_rule(step);
  return with_real_kind(step.input_array(0), [&]<class T>(T) {
    T* out = step.result<T>(0);
    const Dims& dims = step.out_dims(0);
    copy_strided(step.pool(), step.data<T>(0), dims, broadcast_strides(step.dims(0), dims), 0, out);
    for (size_t i = 1; i < step.input_count(); ++i)
      broadcast_binary<T>(step.pool(), {out, dims}, {step.data<T>(i), step.dims(i)}, out, dims,
                          [](T x, T y) { return F()(x, y); });
    const T count = static_cast<T>(step.input_count());
    if (kMean) map_elements(step.pool(), out, out, elements(dims), [=](T v) { return v / count; });
  });
}

// ---- one element's arithmetic -----

// clang-format off
struct Pow { template <class T> T operator()(T a, T b) const { return std::pow(a, b); } };
struct Min { template <class T> T operator()(T a, T b) const { return b < a || b != b ? b : a; } };
struct Max { template <class T> T operator()(T a, T b) const { return a < b || b != b ? b : a; } };
struct PRelu { template <class T> T operator()(T a, T b) const { return a < 0 ? a * b : a; } };

struct Abs { template <class T> static T apply_to(T v) { return std::abs(v); } };
struct Neg { template <class T> static T apply_to(T v) { return -v; } };
struct Sign {
  template <class T>
  static T apply_to(T v) { return v != v ? v : static_cast<T>((v > 0) - (v < 0)); }
};
struct Relu { template <class T> static T apply_to(T v) { return v < 0 ? T{} : v; } };
struct Reciprocal { template <class T> static T apply_to(T v) { return 1 / v; } };
struct Sigmoid { template <class T> static T apply_to(T v) { return 1 / (1 + std::exp(-v)); } };
struct Sqrt { template <class T> static T apply_to(T v) { return std::sqrt(v); } };
struct Exp { template <class T> static T apply_to(T v) { return std::exp(v); } };
struct Log { template <class T> static T apply_to(T v) { return std::log(v); } };
struct Erf { template <class T> static T apply_to(T v) { return std::erf(v); } };
struct Tanh { template <class T> static T apply_to(T v) { return std::tanh(v); } };
struct Floor { template <class T> static T apply_to(T v) { return std::floor(v); } };
struct Ceil { template <class T> static T apply_to(T v) { return std::ceil(v); } };
struct Round { template <class T> static T apply_to(T v) { return std::nearbyint(v); } };
struct Sin { template <class T> static T apply_to(T v) { return std::sin(v); } };
struct Cos { template <class T> static T apply_to(T v) { return std::cos(v); } };
struct Tan { template <class T> static T apply_to(T v) { return std::tan(v); } };
struct Sinh { template <class T> static T apply_to(T v) { return std::sinh(v); } };
struct Cosh { template <class T> static T apply_to(T v) { return std::cosh(v); } };
struct Asin { template <class T> static T apply_to(T v) { return std::asin(v); } };
struct Acos { template <class T> static T apply_to(T v) { return std::acos(v); } };
struct Atan { template <class T> static T apply_to(T v) { return std::atan(v); } };
struct Asinh { template <class T> static T apply_to(T v) { return std::asinh(v); } };
struct Acosh { template <class T> static T apply_to(T v) { return std::acosh(v); } };
struct Atanh { template <class T> static T apply_to(T v) { return std::atanh(v); } };
// clang-format on

// ---- the ones with rules of their own -----

/// The exponent may be of another type than the base, which the result has.
Status pow_kernel(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  if (is_real(step.input_array(0)) && step.input_array(0).dtype() == step.input_array(1).dtype())
    return binary_kernel<Pow>(step);
  if (!is_real(step.input_array(0)) && !is_real(step.input_array(1))) return by_value_rule(step);
  const std::vector<double> base = step.reals(0), exponent = step.reals(1);
  std::vector<double> out(static_cast<size_t>(elements(step.out_dims(0))));
  broadcast_binary<double>(step.pool(), {base.data(), step.dims(0)},
                           {exponent.data(), step.dims(1)}, out.data(), step.out_dims(0),
                           [](double a, double b) { return std::pow(a, b); });
  step.put_output(0, out);
  return ok();
}

Status clip_kernel(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  if (!is_real(step.input_array(0))) return by_value_rule(step);
  double high = largest_real(step.dtype(0)), low = -high;  // infinities are clipped, too
  if (step.opset() < 11) {
    low = real_attr(step, "min", low);
    high = real_attr(step, "max", high);
  } else {
    low = step.real_or(1, low);
    high = step.real_or(2, high);
  }
  return with_real_kind(step.input_array(0), [&]<class T>(T) {
    const T least = static_cast<T>(low), most = static_cast<T>(high);
    map_elements(step.pool(), step.data<T>(0), step.result<T>(0), step.input_array(0).size(),
                 [=](T v) {
                   v = v < least ? least : v;  // the upper bound wins when they cross; NaN stays
                   return v > most ? most : v;
                 });
  });
}

Status where_kernel(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  const Dims& dims = step.out_dims(0);
  if (step.input_array(1).kind() != step.input_array(2).kind() ||
      step.input_array(0).kind() != ElementKind::u8)
    return bad_node(step, "the condition must be boolean and both choices of one type");
  const StridedLoops<3> walk(
      dims, {broadcast_strides(step.dims(0), dims), broadcast_strides(step.dims(1), dims),
             broadcast_strides(step.dims(2), dims)});
  const uint8_t* condition = step.data<uint8_t>(0);
  with_element_kind(step.input_array(1).kind(), [&]<class T>(T) {
    const T *a = step.data<T>(1), *b = step.data<T>(2);
    T* out = step.result<T>(0);
    walk.each_row(step.pool(), [&](int64_t first, int64_t count, const auto& at, const auto& by) {
      for (int64_t i = 0; i < count; ++i)
        out[first + i] =
            condition[at[0] + i * by[0]] != 0 ? a[at[1] + i * by[1]] : b[at[2] + i * by[2]];
    });
  });
  return ok();
}

bool is_tiny_float(DType dtype) { return is_float(dtype) && fits_byte(dtype); }

template <class From, class To>
To converted_element(DType to, From v) {
  if constexpr (std::is_floating_point_v<To>)
    return static_cast<To>(v);
  else if constexpr (std::is_floating_point_v<From>)
    return static_cast<To>(to_integer(to, v));
  else
    return static_cast<To>(wrap_to_type(to, static_cast<int64_t>(v)));
}

Status cast_to_tiny(KernelContext& step, DType to) {
  const bool saturate = int_attr(step, "saturate", 1) != 0;
  const std::string mode = step.attr("round_mode", "up");
  if (mode != "up" && mode != "down" && mode != "nearest")
    return bad_node(step, fmt::format("round_mode '{}' is unknown", mode));
  const PowerRounding rounding = mode == "up"     ? PowerRounding::up
                                 : mode == "down" ? PowerRounding::down
                                                  : PowerRounding::nearest;
  std::vector<double> values = step.reals(0);
  // ONNX's text and its own examples give a NaN different values in a type that has none.
  if (is_packed(to) && std::ranges::any_of(values, [](double v) { return std::isnan(v); }))
    return refuse(step, fmt::format("{} has no NaN", name(to)));
  for (double& v : values)
    v = format_of(to)->kind == hw::NumberKind::power ? round_power(v, rounding, saturate)
                                                     : round_element(to, v, saturate);
  return step.put_output(0, values), ok();
}

Status cast_kernel(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  const DType to = step.output(0).dtype;
  const Array& in = step.input_array(0);
  if (in.dtype() == to) return step.share_output(0, in), ok();
  if (is_tiny_float(to)) return cast_to_tiny(step, to);
  if (to == DType::bfloat16 && step.opset() < 19) {
    // Up to opset 18 the definition's own examples cut float32 instead of rounding it.
    std::vector<double> values = in.reals();
    for (double& v : values) {
      const auto bits = std::bit_cast<uint32_t>(static_cast<float>(v)) & 0xFFFF0000U;
      if (std::isfinite(v)) v = static_cast<double>(std::bit_cast<float>(bits));
    }
    return step.put_output(0, values), ok();
  }
  with_element_kind(in.kind(), [&]<class From>(From) {
    with_element_kind(step.output_array(0).kind(), [&]<class To>(To) {
      map_elements(step.pool(), step.data<From>(0), step.result<To>(0), in.size(),
                   [=](From v) { return converted_element<From, To>(to, v); });
    });
  });
  return ok();
}

Status identity_kernel(KernelContext& step) {
  return step.share_output(0, step.input_array(0)), ok();
}

/// The same bits under another type of as many bits.
Status bit_cast(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  Array& out = step.output_array(0);
  const bool to = is_kept_as_stored(out.dtype()) && out.dtype() != DType::boolean;
  if (!is_kept_as_stored(step.dtype(0)) || !to || out.bytes() != step.input_array(0).bytes())
    return refuse(step, fmt::format("{} to {} isn't done", name(step.dtype(0)), name(out.dtype())));
  if (out.bytes() > 0)
    std::memcpy(out.raw_data(), step.input_array(0).raw_data(), static_cast<size_t>(out.bytes()));
  return ok();
}

Status is_nan(KernelContext& step) {
  std::vector<int64_t> out;
  for (double v : step.reals(0)) out.push_back(std::isnan(v));
  step.put_output(0, out);
  return ok();
}

Status is_inf(KernelContext& step) {
  const bool negative = int_attr(step, "detect_negative", 1) != 0;
  const bool positive = int_attr(step, "detect_positive", 1) != 0;
  std::vector<int64_t> out;
  for (double v : step.reals(0)) out.push_back(std::isinf(v) && (v > 0 ? positive : negative));
  step.put_output(0, out);
  return ok();
}

constexpr KernelRow kElementwiseKernels[] = {
    {"Abs", unary_kernel<Abs>},
    {"Acos", unary_kernel<Acos>},
    {"Acosh", unary_kernel<Acosh>},
    {"Add", binary_kernel<std::plus<>>},
    {"And", by_value_rule},
    {"Asin", unary_kernel<Asin>},
    {"Asinh", unary_kernel<Asinh>},
    {"Atan", unary_kernel<Atan>},
    {"Atanh", unary_kernel<Atanh>},
    {"BitCast", bit_cast},
    {"BitShift", by_value_rule},
    {"BitwiseAnd", by_value_rule},
    {"BitwiseNot", by_value_rule},
    {"BitwiseOr", by_value_rule},
    {"BitwiseXor", by_value_rule},
    {"Cast", cast_kernel},
    {"CastLike", cast_kernel},
    {"Ceil", unary_kernel<Ceil>},
    {"Clip", clip_kernel},
    {"Cos", unary_kernel<Cos>},
    {"Cosh", unary_kernel<Cosh>},
    {"Div", binary_kernel<std::divides<>>},
    {"Equal", comparison_kernel<std::equal_to<>>},
    {"Erf", unary_kernel<Erf>},
    {"Exp", unary_kernel<Exp>},
    {"Floor", unary_kernel<Floor>},
    {"Greater", comparison_kernel<std::greater<>>},
    {"GreaterOrEqual", comparison_kernel<std::greater_equal<>>},
    {"Identity", identity_kernel, kOnnx, true},
    {"IsInf", is_inf},
    {"IsNaN", is_nan},
    {"Less", comparison_kernel<std::less<>>},
    {"LessOrEqual", comparison_kernel<std::less_equal<>>},
    {"Log", unary_kernel<Log>},
    {"Max", variadic_kernel<Max>},
    {"Mean", variadic_kernel<std::plus<>, true>},
    {"Min", variadic_kernel<Min>},
    {"Mod", by_value_rule},
    {"Mul", binary_kernel<std::multiplies<>>},
    {"Neg", unary_kernel<Neg>},
    {"Not", by_value_rule},
    {"Or", by_value_rule},
    {"PRelu", binary_kernel<PRelu>},
    {"Pow", pow_kernel},
    {"Reciprocal", unary_kernel<Reciprocal>},
    {"Relu", unary_kernel<Relu>},
    {"Round", unary_kernel<Round>},
    {"Sigmoid", unary_kernel<Sigmoid>},
    {"Sign", unary_kernel<Sign>},
    {"Sin", unary_kernel<Sin>},
    {"Sinh", unary_kernel<Sinh>},
    {"Sqrt", unary_kernel<Sqrt>},
    {"Sub", binary_kernel<std::minus<>>},
    {"Sum", variadic_kernel<std::plus<>>},
    {"Tan", unary_kernel<Tan>},
    {"Tanh", unary_kernel<Tanh>},
    {"Where", where_kernel, kOnnx, true},
    {"Xor", by_value_rule},
};

}  // namespace

std::span<const KernelRow> elementwise_kernels() { return kElementwiseKernels; }

}  // namespace accsim::sim::ref
