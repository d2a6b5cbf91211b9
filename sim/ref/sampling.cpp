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

  double low() const { return align ? 0 : -0.5; }
  double high(int64_t size) const { return static_cast<double>(size) - (align ? 1 : 0.5); }

  double reflect(double x, int64_t size) const {
    const double least = low(), range = high(size) - least;
    if (range <= 0) return least;
    if (x >= least && x <= high(size)) return x;
    const double beyond = x < least ? least - x : x - high(size);
    const double times = std::floor(beyond / range), rest = beyond - times * range;
    const bool even = std::fmod(times, 2) == 0;
    return (x < least) == even ? least + rest : high(size) - rest;
  }
  /// A coordinate brought into the image, as far as the border asks for it.
  double place(double x, int64_t size) const {
    if (kind == Kind::border) return std::clamp(x, 0.0, static_cast<double>(size - 1));
    return kind == Kind::reflection ? reflect(x, size) : x;
  }
  /// The element that index i stands for; -1: a zero.
  int64_t index(double i, int64_t size) const {
    if (i >= 0 && i < static_cast<double>(size)) return static_cast<int64_t>(i);
    if (kind == Kind::zeros || !(std::abs(i) < 1e15)) return -1;
    if (kind == Kind::border) return i < 0 ? 0 : size - 1;
    return std::clamp<int64_t>(static_cast<int64_t>(std::nearbyint(reflect(i, size))), 0, size - 1);
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
  if (!keeps && (x < border.low() || x > border.high(size))) x = border.place(x, size);
  if (!std::isfinite(x)) x = -1e18;
  if (mode == "nearest") {
    taps = {{border.index(std::nearbyint(x), size)}, {1}};
    return taps;
  }
  const double left = std::floor(x);
  for (int64_t i = cubic ? -1 : 0; i <= (cubic ? 2 : 1); ++i) {
    const double at = left + static_cast<double>(i);
    taps.at.push_back(border.index(at, size));
    taps.weight.push_back(cubic ? cubic_weight(x - at) : 1 - std::abs(x - at));
  }
  return taps;
}

/// The sum over all combinations of the axes' taps.
double combine(const double* image, const Dims& dims, const std::vector<AxisTaps>& taps, size_t d,
               int64_t base) {
  double sum = 0;
  for (size_t t = 0; t < taps[d].at.size(); ++t) {
    if (taps[d].at[t] < 0) continue;
    const int64_t at = base * dims[d] + taps[d].at[t];
    sum += taps[d].weight[t] *
           (d + 1 == dims.size() ? image[at] : combine(image, dims, taps, d + 1, at));
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
            combine(image.data() + (n * x[1] + c) * plane, spatial, taps, 0, 0);
    }
  return step.put(0, out), ok();
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
  return step.put(0, out), ok();
}

// ---- regions of interest -----

/// One of the four neighbours of a point, and its weight.
struct Corner {
  int64_t at;
  double weight;
};

/// Bilinear neighbours of (y, x); none when the point is more than one element outside.
std::vector<Corner> corners(double y, double x, int64_t height, int64_t width) {
  const auto h = static_cast<double>(height), w = static_cast<double>(width);
  if (!(y >= -1 && y <= h && x >= -1 && x <= w)) return {};
  y = std::clamp(y, 0.0, h - 1);
  x = std::clamp(x, 0.0, w - 1);
  const auto y0 = static_cast<int64_t>(y), x0 = static_cast<int64_t>(x);
  const int64_t y1 = std::min(y0 + 1, height - 1), x1 = std::min(x0 + 1, width - 1);
  const double fy = y - static_cast<double>(y0), fx = x - static_cast<double>(x0);
  return {{y0 * width + x0, (1 - fy) * (1 - fx)},
          {y0 * width + x1, (1 - fy) * fx},
          {y1 * width + x0, fy * (1 - fx)},
          {y1 * width + x1, fy * fx}};
}

constexpr int64_t kMostSamples = 1024;  // along one side of a bin

struct Roi {
  double y = 0, x = 0, bin_height = 0, bin_width = 0;
  int64_t rows = 1, columns = 1;  ///< samples of a bin
};

Roi roi_of(const KernelContext& step, const double* given) {
  const std::string mode = step.attr("coordinate_transformation_mode",
                                     step.opset() < 16 ? "output_half_pixel" : "half_pixel");
  const bool half = mode == "half_pixel";
  const double scale = real_attr(step, "spatial_scale", 1), shift = half ? 0.5 : 0;
  const int64_t ratio = int_attr(step, "sampling_ratio", 0);
  const auto height = static_cast<double>(step.out_dims(0)[2]);
  const auto width = static_cast<double>(step.out_dims(0)[3]);
  double h = (given[3] - given[1]) * scale, w = (given[2] - given[0]) * scale;
  if (!half) h = std::max(h, 1.0), w = std::max(w, 1.0);
  Roi roi{given[1] * scale - shift, given[0] * scale - shift, h / height, w / width, ratio, ratio};
  if (ratio == 0) {
    const auto samples = [](double bin) {
      return std::isnan(bin) ? int64_t{1}
                             : static_cast<int64_t>(std::clamp(std::ceil(bin), 1.0,
                                                               static_cast<double>(kMostSamples)));
    };
    roi.rows = samples(roi.bin_height);
    roi.columns = samples(roi.bin_width);
  }
  return roi;
}

/// One channel of one image, row by row.
struct Plane {
  const double* at;
  int64_t height, width;
};

double align_bin(const Roi& roi, const Plane& plane, int64_t by, int64_t bx, bool average) {
  double sum = 0, most = -std::numeric_limits<double>::infinity();
  for (int64_t iy = 0; iy < roi.rows; ++iy)
    for (int64_t ix = 0; ix < roi.columns; ++ix) {
      const double y = roi.y + (static_cast<double>(by) +
                                (static_cast<double>(iy) + 0.5) / static_cast<double>(roi.rows)) *
                                   roi.bin_height;
      const double x = roi.x + (static_cast<double>(bx) + (static_cast<double>(ix) + 0.5) /
                                                              static_cast<double>(roi.columns)) *
                                   roi.bin_width;
      const std::vector<Corner> all = corners(y, x, plane.height, plane.width);
      if (all.empty()) most = std::max(most, 0.0);
      for (const Corner& c : all) {
        sum += c.weight * plane.at[c.at];
        most = std::max(most, c.weight * plane.at[c.at]);
      }
    }
  return average ? sum / static_cast<double>(roi.rows * roi.columns) : most;
}

Status roi_align(KernelContext& step) {
  if (Status s = one_of(step, "mode", "avg", "avg max"); !s) return s;
  if (Status s = one_of(step, "coordinate_transformation_mode", "half_pixel",
                        "half_pixel output_half_pixel");
      !s)
    return s;
  const Dims &x = step.dims(0), &y = step.out_dims(0);
  const bool average = step.attr("mode", "avg") == "avg";
  if (int_attr(step, "sampling_ratio", 0) > kMostSamples)
    return refuse(step,
                  fmt::format("more than {} samples along a bin aren't computed", kMostSamples));
  const std::vector<double> image = step.reals(0), rois = step.reals(1);
  const std::vector<int64_t> batch = step.integers(2);
  std::vector<double> out;
  if (x[2] * x[3] == 0) return bad_node(step, "an empty image has no regions");
  for (int64_t r = 0; r < y[0]; ++r) {
    const int64_t n = batch[static_cast<size_t>(r)];
    if (n < 0 || n >= x[0])
      return bad_node(step, fmt::format("batch index {} is outside {}", n, x[0]));
    const Roi roi = roi_of(step, rois.data() + r * 4);
    for (int64_t c = 0; c < x[1]; ++c)
      for (int64_t p = 0; p < y[2] * y[3]; ++p)
        out.push_back(align_bin(roi, {image.data() + (n * x[1] + c) * x[2] * x[3], x[2], x[3]},
                                p / y[3], p % y[3], average));
  }
  return step.put(0, out), ok();
}

/// The largest element of every bin of a region whose corners are rounded to elements.
Status max_roi_pool(KernelContext& step) {
  const Dims &x = step.dims(0), &y = step.out_dims(0);
  const double scale = real_attr(step, "spatial_scale", 1);
  const std::vector<double> image = step.reals(0), rois = step.reals(1);
  std::vector<double> out;
  const auto edge = [](double at, int64_t start, int64_t size) {
    return std::clamp<int64_t>(static_cast<int64_t>(std::clamp(at, -1e9, 1e9)) + start, 0, size);
  };
  for (int64_t r = 0; r < y[0]; ++r) {
    const double* roi = rois.data() + r * 5;
    if (!(roi[0] >= 0 && roi[0] < static_cast<double>(x[0])))
      return bad_node(step, "a region's batch index is outside");
    for (size_t i = 1; i < 5; ++i)
      if (!std::isfinite(roi[i])) return bad_node(step, "a region's corner isn't finite");
    const auto n = static_cast<int64_t>(roi[0]);
    const auto round = [&](size_t i) {
      return static_cast<int64_t>(std::round(std::clamp(roi[i] * scale, -1e9, 1e9)));
    };
    const int64_t x0 = round(1), y0 = round(2);
    const double h =
        static_cast<double>(std::max<int64_t>(round(4) - y0 + 1, 1)) / static_cast<double>(y[2]);
    const double w =
        static_cast<double>(std::max<int64_t>(round(3) - x0 + 1, 1)) / static_cast<double>(y[3]);
    for (int64_t c = 0; c < x[1]; ++c)
      for (int64_t p = 0; p < y[2] * y[3]; ++p) {
        const int64_t row = p / y[3], column = p % y[3];
        const auto by = static_cast<double>(row), bx = static_cast<double>(column);
        const int64_t top = edge(std::floor(by * h), y0, x[2]);
        const int64_t bottom = edge(std::ceil((by + 1) * h), y0, x[2]);
        const int64_t left = edge(std::floor(bx * w), x0, x[3]);
        const int64_t right = edge(std::ceil((bx + 1) * w), x0, x[3]);
        double most = bottom > top && right > left ? -std::numeric_limits<double>::infinity() : 0;
        for (int64_t i = top; i < bottom; ++i)
          for (int64_t j = left; j < right; ++j)
            most =
                std::max(most, image[static_cast<size_t>(((n * x[1] + c) * x[2] + i) * x[3] + j)]);
        out.push_back(most);
      }
  }
  return step.put(0, out), ok();
}

constexpr KernelRow kSamplingKernels[] = {
    {"AffineGrid", affine_grid},
    {"GridSample", grid_sample},
    {"MaxRoiPool", max_roi_pool},
    {"RoiAlign", roi_align},
};

}  // namespace

std::span<const KernelRow> sampling_kernels() { return kSamplingKernels; }

}  // namespace accsim::sim::ref
