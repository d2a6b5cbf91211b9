#include "sim/operators/elementwise/elementwise_values.h"

#include <cstring>
#include <limits>

#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

using element::broadcast_elements;

int64_t integer_power(int64_t base, int64_t exponent) {
  uint64_t result = 1;
  auto factor = static_cast<uint64_t>(base);
  for (; exponent > 0; exponent >>= 1, factor *= factor)
    if (exponent & 1) result *= factor;
  return static_cast<int64_t>(result);
}

/// Clip's bound i: an input from opset 11 on, an attribute before.
template <class T>
T clip_bound(const NodeView& node, size_t i, std::string_view attribute, T fallback) {
  if (node.has_input(i)) return read_as<T>(*node.value(i))[0];
  if constexpr (std::floating_point<T>)
    return real_attr(node, attribute, fallback);
  else
    return fallback;
}

}  // namespace

bool same_type_inputs(const NodeView& node) {
  if (!can_fold(node)) return false;
  for (size_t i = 0; i < node.input_count(); ++i)
    if (!node.has_input(i) || node.dtype(i) != node.dtype(0)) return false;
  return true;
}

Status mean_value(InferContext& node) {
  if (!same_type_inputs(node) || !is_float(node.dtype(0))) return ok();
  const Dims& dims = node.output(0).dims;
  std::vector<double> total(static_cast<size_t>(elements(dims)), 0.0);
  for (size_t i = 0; i < node.input_count(); ++i) {
    const std::vector<double> values = broadcast_elements<double>(node, i, dims);
    for (size_t n = 0; n < total.size(); ++n) total[n] += values[n];
  }
  for (double& v : total) v /= static_cast<double>(node.input_count());
  store_results(node, 0, total);
  return ok();
}

Status mod_value(InferContext& node) {
  return int_attr(node, "fmod", 0) != 0 ? fold_value<element::RemainderOfC>(node)
                                        : fold_value<element::RemainderOfPython>(node);
}

Status bit_shift_value(InferContext& node) {
  return node.attr("direction", "") == "LEFT" ? fold_value<element::ShiftLeft>(node)
                                              : fold_value<element::ShiftRight>(node);
}

Status pow_value(InferContext& node) {
  if (!can_fold(node)) return ok();
  const Tensor& out = node.output(0);
  if (!is_float(out.dtype) && !is_float(node.dtype(1))) {
    std::vector<int64_t> base = broadcast_elements<int64_t>(node, 0, out.dims);
    const std::vector<int64_t> exponent = broadcast_elements<int64_t>(node, 1, out.dims);
    for (size_t n = 0; n < base.size(); ++n) {
      if (exponent[n] < 0) return ok();
      base[n] = integer_power(base[n], exponent[n]);
    }
    store_results(node, 0, base);
    return ok();
  }
  std::vector<double> results = broadcast_elements<double>(node, 0, out.dims);
  const std::vector<double> exponent = broadcast_elements<double>(node, 1, out.dims);
  for (size_t n = 0; n < results.size(); ++n) results[n] = std::pow(results[n], exponent[n]);
  if (is_float(out.dtype)) {
    store_results(node, 0, results);
    return ok();
  }
  std::vector<int64_t> truncated;
  for (const double v : results) truncated.push_back(to_integer(out.dtype, v));
  node.set_value(0, std::move(truncated));
  return ok();
}

Status clip_value(InferContext& node) {
  if (!can_fold(node)) return ok();
  for (size_t i = 1; i < node.input_count(); ++i)
    if (node.has_input(i) && (node.dtype(i) != node.dtype(0) || node.value(i)->size() == 0))
      return ok();
  with_type(node.dtype(0), [&]<class T>(T) {
    T least = std::numeric_limits<T>::lowest(), most = std::numeric_limits<T>::max();
    if constexpr (std::floating_point<T>) {
      most = largest_real(node.dtype(0));
      least = -most;
    }
    const T low = clip_bound<T>(node, 1, "min", least);
    const T high = clip_bound<T>(node, 2, "max", most);
    std::vector<T> values = read_as<T>(*node.value(0));
    // In this order: when the bounds cross, the upper one wins.
    for (T& v : values) v = *element::Min::result_of(*element::Max::result_of(v, low), high);
    store_results(node, 0, values);
  });
  return ok();
}

Status where_value(InferContext& node) {
  if (!can_fold(node) || node.dtype(1) != node.dtype(2)) return ok();
  const Dims& dims = node.output(0).dims;
  const std::vector<int64_t> condition = broadcast_elements<int64_t>(node, 0, dims);
  with_type(node.dtype(1), [&]<class T>(T) {
    std::vector<T> results = broadcast_elements<T>(node, 1, dims);
    const std::vector<T> other = broadcast_elements<T>(node, 2, dims);
    for (size_t n = 0; n < results.size(); ++n)
      if (condition[n] == 0) results[n] = other[n];
    store_results(node, 0, results);
  });
  return ok();
}

Status cast_value(InferContext& node) {
  if (!node.has_output(0)) return ok();
  const DType from = node.dtype(0), to = node.output(0).dtype;
  if (is_foldable(from) && is_foldable(to) && node.value(0) != nullptr)
    node.set_value(0, convert_elements(*node.value(0), from, to));
  return ok();
}

Status pass_value(InferContext& node) {
  const ConstData* value = node.value(0);
  if (!node.has_output(0) || value == nullptr) return ok();
  const ConstPtr& shared = node.input(0).value;
  node.set_value(0, shared.get() == value ? shared : std::make_shared<const ConstData>(*value));
  return ok();
}

Status dropout_value(InferContext& node) {
  if (node.has_output(1) && node.output(1).dtype == DType::boolean)
    node.set_value(1, std::vector<int64_t>(static_cast<size_t>(elements(node.dims(0))), 1));
  return pass_value(node);
}

namespace {

/// test(v) of every element, which must be a float.
template <class Test>
Status float_test(InferContext& node, Test test) {
  if (!can_fold(node) || !is_float(node.dtype(0))) return ok();
  std::vector<int64_t> results;
  for (const double v : node.value(0)->reals()) results.push_back(test(v));
  node.set_value(0, std::move(results));
  return ok();
}

}  // namespace

Status is_nan_value(InferContext& node) {
  return float_test(node, [](double v) { return std::isnan(v); });
}

Status is_inf_value(InferContext& node) {
  const bool negative = int_attr(node, "detect_negative", 1) != 0;
  const bool positive = int_attr(node, "detect_positive", 1) != 0;
  return float_test(node, [&](double v) { return std::isinf(v) && (v < 0 ? negative : positive); });
}

}  // namespace accsim::sim
