#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/operators/rules.h"
#include "sim/ref/kernel_parts.h"

namespace accsim::sim::ref {
namespace {

// ---- GridSample and AffineGrid -----

/// How one axis of a sampled image is read outside of it.
struct Border {
  enum class Kind { zeros, border, reflection } kind = Kind::zeros;
  bool align = false;

  double low_edge() const { return align ? 0 : -0.5; }
  double high_edge(int64_t size) const { return static_cast<double>(size) - (align ? 1 : 0.5); }

  double reflect_coordinate(double x, int64_t size) const {
    const double least = low_edge(), range = high_edge(size) - least;
    if (range <= 0) return least;
    if (x >= least && x <= high_edge(size)) return x;
    const double beyond = x < least ? least - x : x - high_edge(size);
    const double times = std::floor(beyond / range), rest = beyond - times * range;
    const bool even = std::fmod(times, 2) == 0;
    return (x < least) == even ? least + rest : high_edge(size) - rest;
  }
  /// A coordinate brought into the image, as far as the border asks for it.
  double place_coordinate(double x, int64_t size) const {
    if (kind == Kind::border) return std::clamp(x, 0.0, static_cast<double>(size - 1));
    return kind == Kind::reflection ? reflect_coordinate(x, size) : x;
  }
  /// The element that index i stands for; -1: a zero.
  int64_t pixel_index(double i, int64_t size) const {
    if (i >= 0 && i < static_cast<double>(size)) return static_cast<int64_t>(i);
    if (kind == Kind::zeros || !(std::abs(i) < 1e15)) return -1;
    if (kind == Kind::border) return i < 0 ? 0 : size - 1;
    return std::clamp<int64_t>(static_cast<int64_t>(std::nearbyint(reflect_coordinate(i, size))), 0,
                               size - 1);
  }
};

/// The taps of one coordinate along one axis.
struct AxisTaps {
  std::vector<int64_t> at;
  std::vector<double> weight;
};

double cubic_weight(double x) {
  constexpr double kA = -0.75;
  x = std::abs(x);
  if (x <= 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  return x < 2 ? ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA : 0;
}

AxisTaps axis_taps(const std::string& mode, const Border& border, double x, int64_t size) {
  AxisTaps taps;
  const bool cubic = mode == "cubic" || mode == "bicubic";
  // A cubic filter keeps its place beyond the border, and its taps are what is clamped.
  const bool keeps = cubic && border.kind == Border::Kind::border;
  if (!keeps && (x < border.low_edge() || x > border.high_edge(size)))
    x = border.place_coordinate(x, size);
  if (!std::isfinite(x)) x = -1e18;
  if (mode == "nearest") {
    taps = {{border.pixel_index(std::nearbyint(x), size)}, {1}};
    return taps;
  }
  const double left = std::floor(x);
  for (int64_t i = cubic ? -1 : 0; i <= (cubic ? 2 : 1); ++i) {
    const double at = left + static_cast<double>(i);
    taps.at.push_back(border.pixel_index(at, size));
    taps.weight.push_back(cubic ? cubic_weight(x - at) : 1 - std::abs(x - at));
  }
  return taps;
}

/// The sum over all combinations of the axes' taps.
double combine_taps(const double* image, const Dims& dims, const std::vector<AxisTaps>& taps,
                    size_t d, int64_t base) {
  double sum = 0;
  for (size_t t = 0; t < taps[d].at.size(); ++t) {
    if (taps[d].at[t] < 0) continue;
    const int64_t at = base * dims[d] + taps[d].at[t];
    sum += taps[d].weight[t] *
           (d + 1 == dims.size() ? image[at] : combine_taps(image, dims, taps, d + 1, at));
  }
  return sum;
}

Status grid_sample(KernelContext& step) {
  const Dims& x = step.dims(0);
  const Dims spatial(x.begin() + 2, x.end());
  const size_t rank = spatial.size();
  if (elements(spatial) == 0) return bad_node(step, "an empty image can't be sampled");
  const std::string mode = step.attr("mode", "linear"),
                    padding = step.attr("padding_mode", "zeros");
  Border border{Border::Kind::zeros, int_attr(step, "align_corners", 0) != 0};
  if (padding == "border")
    border.kind = Border::Kind::border;
  else if (padding == "reflection")
    border.kind = Border::Kind::reflection;
  else if (padding != "zeros")
    return bad_node(step, "padding_mode isn't zeros, border, reflection");
  const std::vector<double> image = step.reals(0), grid = step.reals(1);
  const int64_t points = elements(step.out_dims(0), 2, step.out_dims(0).size());
  const int64_t plane = elements(spatial);
  std::vector<double> out(static_cast<size_t>(elements(step.out_dims(0))));
  for (int64_t n = 0; n < x[0]; ++n)
    for (int64_t p = 0; p < points; ++p) {
      std::vector<AxisTaps> taps;
      for (size_t d = 0; d < rank; ++d) {  // the grid has x first, the image its last axis
        const double g = grid[static_cast<size_t>((n * points + p)) * rank + rank - 1 - d];
        const auto size = static_cast<double>(spatial[d]);
        const double at = border.align ? (g + 1) / 2 * (size - 1) : ((g + 1) * size - 1) / 2;
        taps.push_back(axis_taps(mode, border, at, spatial[d]));
      }
      for (int64_t c = 0; c < x[1]; ++c)
        out[static_cast<size_t>((n * x[1] + c) * points + p)] =
            combine_taps(image.data() + (n * x[1] + c) * plane, spatial, taps, 0, 0);
    }
  return step.put_output(0, out), ok();
}

Status affine_grid(KernelContext& step) {
  const Dims& y = step.out_dims(0);
  const size_t rank = y.size() - 2;
  const bool align = int_attr(step, "align_corners", 0) != 0;
  const std::vector<double> theta = step.reals(0);
  std::vector<double> out;
  const int64_t points = elements(y, 1, y.size() - 1);
  for (int64_t n = 0; n < y[0]; ++n)
    for (int64_t p = 0; p < points; ++p) {
      std::vector<double> at(rank + 1, 1);  // x, y[, z], 1
      int64_t rest = p;
      for (size_t d = 0; d < rank; ++d) {
        const int64_t size = y[rank - d], i = rest % size;
        rest /= size;
        const auto length = static_cast<double>(size), index = static_cast<double>(i);
        at[d] =
            align ? (size > 1 ? 2 * index / (length - 1) - 1 : -1) : (2 * index + 1) / length - 1;
      }
      for (size_t r = 0; r < rank; ++r) {
        double sum = 0;
        for (size_t k = 0; k <= rank; ++k)
          sum += theta[(static_cast<size_t>(n) * rank + r) * (rank + 1) + k] * at[k];
        out.push_back(sum);
      }
    }
  return step.put_output(0, out), ok();
}

constexpr KernelRow kSamplingKernels[] = {
    {"AffineGrid", affine_grid},
    {"GridSample", grid_sample},
};

}  // namespace

std::span<const KernelRow> sampling_kernels() { return kSamplingKernels; }

}  // namespace accsim::sim::ref
