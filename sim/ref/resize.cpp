#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/operators/fold.h"
#include "sim/operators/rules.h"
#include "sim/ref/kernel_context.h"

namespace accsim::sim::ref {
namespace {

/// How one node interpolates, the same along every axis.
struct Method {
  std::string mode = "nearest", coordinates = "half_pixel", rounding = "round_prefer_floor";
  double cubic_a = -0.75, extrapolation = 0;
  bool antialias = false, exclude_outside = false;
};

/// One axis: extents, scale, and the part of the input that is looked at.
struct Axis {
  int64_t in = 1, out = 1;
  double scale = 1;
  double roi_start = 0, roi_end = 1;
};

/// One output element along one axis: its taps.
struct Taps {
  std::vector<int64_t> at;
  std::vector<double> weight;
  bool outside = false;  ///< takes the extrapolation value
};

double original_coordinate(const Method& m, const Axis& a, double x) {
  // The suite's own arithmetic: the resized length before rounding, where scales were given.
  const double in = static_cast<double>(a.in), resized = a.scale * in;
  const std::string& mode = m.coordinates;
  if (mode == "align_corners") return resized == 1 ? 0 : x * (in - 1) / (resized - 1);
  if (mode == "asymmetric") return x / a.scale;
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5) / a.scale;
  if (mode == "pytorch_half_pixel" && resized == 1) return -0.5;
  if (mode == "tf_crop_and_resize") {
    const double part = a.roi_end - a.roi_start;
    const auto out = static_cast<double>(a.out);
    const double within = a.out == 1 ? part * (in - 1) / 2 : x * part * (in - 1) / (out - 1);
    return a.roi_start * (in - 1) + within;
  }
  const double centred = (x + 0.5) / a.scale - 0.5;
  if (mode != "half_pixel_symmetric") return centred;
  const double adjustment = static_cast<double>(a.out) / resized;
  return in / 2 * (1 - adjustment) + centred;
}

double cubic_tap(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

/// Weights of the elements from `first` on, counted from the element left of the coordinate, which
/// is `ratio` in (0, 1] behind that element.
void weigh_taps(const Method& m, double ratio, double scale, int64_t& first,
                std::vector<double>& out) {
  // Antialiasing stretches the filter when the output is the coarser one.
  const double stretch = m.antialias ? std::min(scale, 1.0) : 1;
  if (m.mode == "nearest") {
    const bool right = ratio == 1 || (m.rounding == "ceil") ||
                       (m.rounding == "round_prefer_floor" && ratio > 0.5) ||
                       (m.rounding == "round_prefer_ceil" && ratio >= 0.5);
    first = right ? 1 : 0;
    out = {1};
    return;
  }
  const bool linear = m.mode == "linear" || m.mode == "bilinear";
  first = static_cast<int64_t>(std::floor((linear ? -1 : -2) / stretch)) + 1;
  double sum = 0;
  for (int64_t i = first; i <= 1 - first; ++i) {
    const double x = (static_cast<double>(i) - ratio) * stretch;
    out.push_back(linear ? std::max(0.0, 1 - std::abs(x)) : cubic_tap(x, m.cubic_a));
    sum += out.back();
  }
  if (m.antialias)
    for (double& w : out) w /= sum;
}

Taps taps_of(const Method& m, const Axis& a, int64_t o) {
  Taps taps;
  double x = original_coordinate(m, a, static_cast<double>(o));
  if (!(std::abs(x) < 1e15)) x = 0;  // a scale or region that makes no sense
  const double edge = static_cast<double>(a.in - 1);
  taps.outside = m.coordinates == "tf_crop_and_resize" && (x < 0 || x > edge);
  if (taps.outside) return taps;
  const double left = std::ceil(x) - 1;  // so that the ratio is in (0, 1]
  int64_t first = 0;
  weigh_taps(m, x - left, a.scale, first, taps.weight);
  double kept = 0;
  for (size_t i = 0; i < taps.weight.size(); ++i) {
    const double at = left + static_cast<double>(first) + static_cast<double>(i);
    if (m.exclude_outside && m.mode != "nearest" && (at < 0 || at > edge)) taps.weight[i] = 0;
    kept += taps.weight[i];
    taps.at.push_back(static_cast<int64_t>(std::clamp(at, 0.0, std::max(edge, 0.0))));
  }
  if (m.exclude_outside && m.mode != "nearest" && kept != 0)
    for (double& w : taps.weight) w /= kept;
  return taps;
}

/// Interpolates along one axis: `values` has `dims`, whose axis becomes as long as `all`.
template <class T>
std::vector<T> resize_axis(const KernelContext& step, const std::vector<T>& values, Dims& dims,
                           size_t axis, const std::vector<Taps>& all, T extrapolation) {
  const Lines from = lines_along(dims, static_cast<int64_t>(axis));
  dims[axis] = static_cast<int64_t>(all.size());
  const Lines to = lines_along(dims, static_cast<int64_t>(axis));
  std::vector<T> out(static_cast<size_t>(elements(dims)));
  step.pool().parallel_for(to.outer * to.length, 1 + 8192 / (to.inner + 1),
                           [&](int64_t b, int64_t e) {
                             for (int64_t r = b; r < e; ++r) {
                               const int64_t o = r / to.length, n = r % to.length;
                               const Taps& taps = all[static_cast<size_t>(n)];
                               T* row = out.data() + to.offset_of(o, 0, n);
                               std::fill_n(row, to.inner, taps.outside ? extrapolation : T{});
                               for (size_t t = 0; t < taps.at.size(); ++t) {
                                 const T* source = values.data() + from.offset_of(o, 0, taps.at[t]);
                                 const T w = static_cast<T>(taps.weight[t]);
                                 for (int64_t i = 0; i < to.inner; ++i) row[i] += w * source[i];
                               }
                             }
                           });
  return out;
}

template <class T>
Status interpolate(KernelContext& step, const Method& m, const std::vector<Axis>& axes,
                   std::vector<T> v) {
  Dims dims = step.dims(0);
  for (size_t d = 0; d < axes.size(); ++d) {
    const Axis& a = axes[d];
    if (a.in == a.out && a.scale == 1 && a.roi_start == 0 && a.roi_end == 1) continue;
    if (a.in == 0) return bad_node(step, "an empty dim can't be resized");
    std::vector<Taps> all;
    for (int64_t o = 0; o < a.out; ++o) all.push_back(taps_of(m, a, o));
    v = resize_axis(step, v, dims, d, all, static_cast<T>(m.extrapolation));
  }
  if constexpr (std::is_same_v<T, float>) {
    std::copy(v.begin(), v.end(), step.result<float>(0));
  } else {
    if (!is_float(step.dtype(0)))
      for (T& x : v) x = std::nearbyint(x);
    step.put_output(0, v);
  }
  return ok();
}

Status interpolate(KernelContext& step, const Method& m, const std::vector<Axis>& axes) {
  if (!step.has_output(0)) return ok();
  if (step.input_array(0).kind() != ElementKind::f32)
    return interpolate(step, m, axes, step.reals(0));
  const float* in = step.data<float>(0);
  return interpolate(step, m, axes, std::vector<float>(in, in + step.input_array(0).size()));
}

/// Extents of every axis, and the scales that follow from them.
std::vector<Axis> plain_axes(const KernelContext& step) {
  std::vector<Axis> axes;
  for (size_t d = 0; d < step.dims(0).size(); ++d) {
    Axis a{step.dims(0)[d], step.out_dims(0)[d], 1, 0, 1};
    a.scale = a.in > 0 ? static_cast<double>(a.out) / static_cast<double>(a.in) : 1;
    axes.push_back(a);
  }
  return axes;
}

/// The axes that scales, sizes and roi speak of.
std::vector<size_t> named_axes(const KernelContext& step) {
  std::vector<size_t> axes;
  const auto stated = step.attr_ints("axes");
  if (stated && step.opset() >= 18)
    for (int64_t a : *stated) axes.push_back(static_cast<size_t>(a < 0 ? a + step.rank(0) : a));
  else
    for (size_t d = 0; d < step.dims(0).size(); ++d) axes.push_back(d);
  return axes;
}

Status resize_image(KernelContext& step) {
  if (Status s = one_of(step, "coordinate_transformation_mode", "half_pixel",
                        "half_pixel half_pixel_symmetric pytorch_half_pixel align_corners "
                        "asymmetric tf_half_pixel_for_nn tf_crop_and_resize");
      !s)
    return s;
  if (Status s =
          one_of(step, "nearest_mode", "floor", "round_prefer_floor round_prefer_ceil floor ceil");
      !s)
    return s;
  Method m;
  m.mode = step.attr("mode", "nearest");
  if (m.mode == "bicubic") m.mode = "cubic";
  m.coordinates =
      step.attr("coordinate_transformation_mode", step.opset() < 11 ? "asymmetric" : "half_pixel");
  m.rounding = step.attr("nearest_mode", step.opset() < 11 ? "floor" : "round_prefer_floor");
  m.cubic_a = real_attr(step, "cubic_coeff_a", -0.75);
  m.extrapolation = real_attr(step, "extrapolation_value", 0);
  m.antialias = int_attr(step, "antialias", 0) != 0;
  m.exclude_outside = int_attr(step, "exclude_outside", 0) != 0;
  std::vector<Axis> axes = plain_axes(step);
  const std::vector<size_t> named = named_axes(step);
  const std::vector<double> scales = step.reals(step.opset() < 11 ? 1 : 2);
  const std::vector<double> sizes = step.opset() < 11 ? std::vector<double>{} : step.reals(3);
  const std::string policy = step.attr("keep_aspect_ratio_policy", "stretch");
  double common = 0;
  for (size_t i = 0; i < sizes.size() && i < named.size(); ++i) {
    const double own = sizes[i] / static_cast<double>(axes[named[i]].in);
    common = i == 0 ? own : policy == "not_larger" ? std::min(common, own) : std::max(common, own);
  }
  for (size_t i = 0; i < named.size(); ++i) {
    if (i < scales.size())
      axes[named[i]].scale = scales[i];
    else if (policy != "stretch" && common > 0)
      axes[named[i]].scale = common;
  }
  if (m.coordinates == "tf_crop_and_resize") {
    const std::vector<double> roi = step.reals(1);
    if (roi.size() != 2 * named.size()) return bad_node(step, "roi must have two entries an axis");
    for (size_t i = 0; i < named.size(); ++i) {
      axes[named[i]].roi_start = roi[i];
      axes[named[i]].roi_end = roi[i + named.size()];
    }
  }
  return interpolate(step, m, axes);
}

Status upsample_image(KernelContext& step) {
  Method m;
  m.mode = step.attr("mode", "nearest");
  m.coordinates = "asymmetric";
  m.rounding = "floor";
  std::vector<Axis> axes = plain_axes(step);
  std::vector<double> scales = step.reals(1);
  if (const Attribute* a = step.find_attribute("scales"); scales.empty() && a != nullptr)
    if (const auto* list = std::get_if<std::vector<double>>(&a->value)) scales = *list;
  for (size_t d = 0; d < axes.size() && d < scales.size(); ++d) axes[d].scale = scales[d];
  return interpolate(step, m, axes);
}

constexpr KernelRow kResizeKernels[] = {{"Resize", resize_image}, {"Upsample", upsample_image}};

}  // namespace

std::span<const KernelRow> resize_kernels() { return kResizeKernels; }

}  // namespace accsim::sim::ref
