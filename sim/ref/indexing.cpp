#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/operators/rules.h"
#include "sim/ref/kernel_context.h"
#include "sim/ref/strided_loops.h"

namespace accsim::sim::ref {
namespace {

/// Rows of input 0 along an axis, picked by input 1.
Status gather_kernel(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  const Result<int64_t> axis = axis_attr(step, 0, step.rank(0));
  if (!axis) return axis.errors();
  const Lines l = lines_along(step.dims(0), *axis);
  std::vector<int64_t> indices = step.integers(1);
  for (int64_t& i : indices) {
    if (i < -l.length || i >= l.length)
      return bad_node(step, fmt::format("index {} is outside a dim of {}", i, l.length));
    if (i < 0) i += l.length;
  }
  const auto count = static_cast<int64_t>(indices.size());
  const auto run = static_cast<size_t>(l.inner * kind_bytes(step.input_array(0).kind()));
  const auto* in = static_cast<const uint8_t*>(step.input_array(0).raw_data());
  auto* out = static_cast<uint8_t*>(step.output_array(0).raw_data());
  if (step.output_array(0).size() == 0) return ok();
  const auto grain = 1 + 65536 / static_cast<int64_t>(run + 1);
  step.pool().parallel_for(l.outer * count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const int64_t row = n / count * l.length + indices[static_cast<size_t>(n % count)];
      std::memcpy(out + static_cast<size_t>(n) * run, in + static_cast<size_t>(row) * run, run);
    }
  });
  return ok();
}

/// The first or last (select_last_index) of the largest or smallest elements.
template <bool kLargest>
Status arg_extreme(KernelContext& step) {
  const Result<int64_t> axis = axis_attr(step, 0, step.rank(0));
  if (!axis) return axis.errors();
  const bool last = int_attr(step, "select_last_index", 0) != 0;
  const Lines l = lines_along(step.dims(0), *axis);
  if (l.length == 0) return bad_node(step, "an empty axis has no extreme");
  std::vector<int64_t> out;
  with_element_kind(step.input_array(0).kind(), [&]<class T>(T) {
    const T* in = step.data<T>(0);
    for (int64_t o = 0; o < l.outer; ++o)
      for (int64_t i = 0; i < l.inner; ++i) {
        int64_t best = 0;
        for (int64_t n = 1; n < l.length; ++n) {
          const T held = in[l.offset_of(o, i, best)], v = in[l.offset_of(o, i, n)];
          if ((kLargest ? v > held : v < held) || (last && v == held)) best = n;
        }
        out.push_back(best);
      }
  });
  return step.put_output(0, out), ok();
}

template <bool kProduct>
Status cumulate_axis(KernelContext& step) {
  if (step.input_array(0).kind() != ElementKind::f32 &&
      step.input_array(0).kind() != ElementKind::f64)
    return by_value_rule(step);
  const std::vector<int64_t> given = step.integers(1);
  if (given.size() != 1) return bad_node(step, "axis must be a scalar");
  const Result<int64_t> axis = normalize_axis(given[0], step.rank(0));
  if (!axis) return bad_node(step, axis.errors().front().message);
  const bool reverse = int_attr(step, "reverse", 0) != 0;
  const bool exclusive = int_attr(step, "exclusive", 0) != 0;
  const Lines l = lines_along(step.dims(0), *axis);
  const std::vector<double> in = step.reals(0);
  std::vector<double> out(in.size());
  for (int64_t o = 0; o < l.outer; ++o)
    for (int64_t i = 0; i < l.inner; ++i) {
      double total = kProduct ? 1 : 0;
      for (int64_t n = 0; n < l.length; ++n) {
        const auto at = static_cast<size_t>(l.offset_of(o, i, reverse ? l.length - 1 - n : n));
        const double next = kProduct ? total * in[at] : total + in[at];
        out[at] = exclusive ? total : next;
        total = next;
      }
    }
  return step.put_output(0, out), ok();
}

/// New keys or values written into a cache along `axis`, from each batch entry's index on.
Status tensor_scatter(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  const Result<int64_t> axis = axis_attr(step, -2, step.rank(0));
  if (!axis) return axis.errors();
  const bool circular = step.attr("mode", "linear") == "circular";
  const Lines cache = lines_along(step.dims(0), *axis), update = lines_along(step.dims(1), *axis);
  std::vector<int64_t> first = step.integers(2);
  if (first.empty()) first.assign(static_cast<size_t>(step.dims(0)[0]), 0);
  const int64_t rows = step.dims(0)[0] > 0 ? cache.outer / step.dims(0)[0] : 0;
  const auto run = static_cast<size_t>(cache.inner * kind_bytes(step.input_array(0).kind()));
  Array& out = step.output_array(0);
  if (out.size() == 0) return ok();
  std::memcpy(out.raw_data(), step.input_array(0).raw_data(), static_cast<size_t>(out.bytes()));
  for (int64_t o = 0; o < update.outer; ++o)
    for (int64_t n = 0; n < update.length; ++n) {
      int64_t at = first[static_cast<size_t>(o / rows)] + n;
      if (circular && at >= 0) at %= cache.length;
      if (at < 0 || at >= cache.length)
        return bad_node(step, fmt::format("index {} is outside a cache of {}", at, cache.length));
      std::memcpy(
          static_cast<uint8_t*>(out.raw_data()) + static_cast<size_t>(o * cache.length + at) * run,
          static_cast<const uint8_t*>(step.input_array(1).raw_data()) +
              static_cast<size_t>(o * update.length + n) * run,
          run);
    }
  return ok();
}

constexpr KernelRow kIndexingKernels[] = {
    {"ArgMax", arg_extreme<true>},     {"ArgMin", arg_extreme<false>},
    {"Compress", by_value_rule},       {"CumProd", cumulate_axis<true>},
    {"CumSum", cumulate_axis<false>},  {"Gather", gather_kernel, kOnnx, true},
    {"GatherElements", by_value_rule}, {"GatherND", by_value_rule},
    {"NonZero", by_value_rule},        {"OneHot", by_value_rule},
    {"Scatter", by_value_rule},        {"ScatterElements", by_value_rule},
    {"ScatterND", by_value_rule},      {"TensorScatter", tensor_scatter},
    {"TopK", by_value_rule},           {"Unique", by_value_rule},
};

}  // namespace

std::span<const KernelRow> index_kernels() { return kIndexingKernels; }

}  // namespace accsim::sim::ref
