#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "sim/operators/rules.h"
#include "sim/ref/kernel_context.h"

namespace accsim::sim::ref {
namespace {

constexpr int64_t kMostSamples = 1024;  // along one side of a bin
/// What an element of an image that a bin takes costs, as run_operations() counts.
constexpr double kTap = 40;

/// The first of [from, to) that a property doesn't hold for, which holds for all before; `to` where
/// there is none.
template <class Holds>
int64_t first_without(int64_t from, int64_t to, Holds holds) {
  while (from < to) {
    const int64_t middle = from + (to - from) / 2;
    if (holds(middle))
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

/// One side of a region: bins one behind the other, `samples` points in each.
struct RoiSide {
  double start = 0, bin = 0;
  int64_t bins = 1, samples = 1;
  int64_t size = 0;  ///< of the image

  double coordinate_at(int64_t b, int64_t sample) const {
    return start + (static_cast<double>(b) +
                    (static_cast<double>(sample) + 0.5) / static_cast<double>(samples)) *
                       bin;
  }
  /// Samples [first, end) of a bin: those no more than one element outside of the image.
  std::pair<int64_t, int64_t> samples_inside(int64_t b) const {
    const auto last = static_cast<double>(size);
    const int64_t first = first_without(0, samples, [&](int64_t i) {
      const double v = coordinate_at(b, i);
      return bin < 0 ? v > last : v < -1;
    });
    const int64_t end = first_without(first, samples, [&](int64_t i) {
      const double v = coordinate_at(b, i);
      return v >= -1 && v <= last;
    });
    return {first, end};
  }
};

/// A sample between two neighbours along one side.
struct Between {
  int64_t low, high;
  double to_high;  ///< weight of `high`; the other one's is what is left of 1
};

Between pixels_between(const RoiSide& side, int64_t b, int64_t sample) {
  const double v =
      std::clamp(side.coordinate_at(b, sample), 0.0, static_cast<double>(side.size - 1));
  const auto low = static_cast<int64_t>(v);
  return {low, std::min(low + 1, side.size - 1), v - static_cast<double>(low)};
}

/// An element along one side, and its weight.
struct Tap {
  int64_t at;
  double weight;
};

/// What some bins of a region take along one side: the neighbours of each sample, or, of a mean,
/// each element once, with the sum of its weights. (The weights of bilinear interpolation are
/// products of those of both sides, so sums of them are, too.)
class RoiTaps {
 public:
  /// `most` bins from `from` on, as far as there are.
  RoiTaps(const RoiSide& side, int64_t from, int64_t most, bool mean) : from_(from), mean_(mean) {
    for (int64_t b = from; b < std::min(side.bins, from + most); ++b) {
      const auto [first, end] = side.samples_inside(b);
      for (int64_t i = first; i < end; ++i) {
        const Between p = pixels_between(side, b, i);
        add_tap(p.low, 1 - p.to_high);
        add_tap(p.high, p.to_high);
      }
      begin_.push_back(taps_.size());
      all_inside_.push_back(end - first == side.samples);
    }
    if (mean_)
      for (Tap& tap : taps_) tap.weight /= static_cast<double>(side.samples);
  }

  int64_t first_bin() const { return from_; }
  int64_t end_bin() const { return from_ + std::ssize(all_inside_); }
  std::span<const Tap> taps_of_bin(int64_t b) const {
    const auto i = static_cast<size_t>(b - from_);
    return std::span(taps_).subspan(begin_[i], begin_[i + 1] - begin_[i]);
  }
  /// Is no sample of a bin outside of the image?
  bool all_inside(int64_t b) const { return all_inside_[static_cast<size_t>(b - from_)]; }
  double tap_count() const { return static_cast<double>(taps_.size()); }

 private:
  /// To a bin's taps; of a mean those before it are of neighbours, if there are any.
  void add_tap(int64_t at, double weight) {
    const size_t known = taps_.size() - begin_.back();
    for (size_t back = 1; mean_ && back <= std::min<size_t>(2, known); ++back)
      if (Tap& tap = taps_[taps_.size() - back]; tap.at == at) {
        tap.weight += weight;
        return;
      }
    taps_.push_back({at, weight});
  }

  int64_t from_;
  bool mean_;
  std::vector<Tap> taps_;
  std::vector<size_t> begin_ = {0};  ///< by bin, and the end
  std::vector<bool> all_inside_;
};

/// Calls f(taps) for all bins of a side, so few at a time that they take little memory.
template <class F>
void for_bins(const RoiSide& side, bool mean, F f) {
  constexpr int64_t kAtATime = 256;
  for (int64_t from = 0; from < side.bins; from += kAtATime) f(RoiTaps(side, from, kAtATime, mean));
}

/// Calls f(product of weights, element) for each tap of a bin.
template <class F>
void for_taps(std::span<const Tap> rows, std::span<const Tap> columns, int64_t width, F f) {
  for (const Tap& y : rows)
    for (const Tap& x : columns) f(y.weight * x.weight, y.at * width + x.at);
}

class RoiAlign {
 public:
  explicit RoiAlign(KernelContext& step)
      : step_(step),
        average_(step.attr("mode", "avg") == "avg"),
        half_(step.attr("coordinate_transformation_mode",
                        step.opset() < 16 ? "output_half_pixel" : "half_pixel") == "half_pixel"),
        scale_(real_attr(step, "spatial_scale", 1)),
        ratio_(int_attr(step, "sampling_ratio", 0)),
        image_(step.reals(0)),
        rois_(step.reals(1)) {}

  /// `out`: as many elements as the output has.
  template <class T>
  Status align_regions(T* out) {
    const Dims &x = step_.dims(0), &y = step_.out_dims(0);
    if (x[2] * x[3] == 0) return bad_node(step_, "an empty image has no regions");
    const std::vector<int64_t> images = step_.integers(2);
    double taps = 0;
    for (int64_t r = 0; r < y[0]; ++r) taps += taps_of(r);
    if (Status s = step_.spend_operations(kTap * taps); !s) return s;
    for (int64_t r = 0; r < y[0]; ++r) {
      const int64_t n = images[static_cast<size_t>(r)];
      if (n < 0 || n >= x[0])
        return bad_node(step_, fmt::format("batch index {} is outside {}", n, x[0]));
      align_region(r, n, out + r * elements(y, 1, y.size()));
    }
    return ok();
  }

 private:
  RoiSide row_side(int64_t r) const { return region_side(r, 1, 2); }
  RoiSide column_side(int64_t r) const { return region_side(r, 0, 3); }

  double taps_of(int64_t r) const {
    double high = 0, wide = 0;
    for_bins(row_side(r), average_, [&](const RoiTaps& taps) { high += taps.tap_count(); });
    for_bins(column_side(r), average_, [&](const RoiTaps& taps) { wide += taps.tap_count(); });
    return high + wide + high * wide * static_cast<double>(step_.dims(0)[1]);
  }

  template <class T>
  void align_region(int64_t r, int64_t image, T* out) const {
    const RoiSide down = row_side(r);
    for_bins(column_side(r), average_, [&](const RoiTaps& across) {
      for (int64_t by = 0; by < down.bins; ++by)
        align_line(RoiTaps(down, by, 1, average_), across, image, out);
    });
  }

  /// Bins of one line, of all channels.
  template <class T>
  void align_line(const RoiTaps& down, const RoiTaps& across, int64_t image, T* out) const {
    const Dims &x = step_.dims(0), &y = step_.out_dims(0);
    const int64_t by = down.first_bin();
    for (int64_t c = 0; c < x[1]; ++c) {
      const double* plane = image_.data() + (image * x[1] + c) * x[2] * x[3];
      for (int64_t bx = across.first_bin(); bx < across.end_bin(); ++bx) {
        const bool inside = down.all_inside(by) && across.all_inside(bx);
        out[(c * y[2] + by) * y[3] + bx] = static_cast<T>(
            average_
                ? mean_of_taps(down.taps_of_bin(by), across.taps_of_bin(bx), plane)
                : largest_of_taps(down.taps_of_bin(by), across.taps_of_bin(bx), plane, inside));
      }
    }
  }

  /// The side whose corners are `corner` and the one two behind it, along dim `dim`.
  RoiSide region_side(int64_t r, size_t corner, size_t dim) const {
    const double* given = rois_.data() + r * 4;
    double length = (given[corner + 2] - given[corner]) * scale_;
    if (!half_) length = std::max(length, 1.0);
    RoiSide out;
    out.start = given[corner] * scale_ - (half_ ? 0.5 : 0);
    out.bins = step_.out_dims(0)[dim];
    out.bin = length / static_cast<double>(out.bins);
    out.size = step_.dims(0)[dim];
    out.samples = ratio_;
    if (out.samples == 0)
      out.samples = std::isnan(out.bin)
                        ? 1
                        : static_cast<int64_t>(std::clamp(std::ceil(out.bin), 1.0,
                                                          static_cast<double>(kMostSamples)));
    return out;
  }

  double mean_of_taps(std::span<const Tap> rows, std::span<const Tap> columns,
                      const double* plane) const {
    double sum = 0;
    for_taps(rows, columns, step_.dims(0)[3],
             [&](double weight, int64_t at) { sum += weight * plane[at]; });
    return sum;
  }

  /// A sample outside of the image is 0.
  double largest_of_taps(std::span<const Tap> rows, std::span<const Tap> columns,
                         const double* plane, bool inside) const {
    double most = inside ? -std::numeric_limits<double>::infinity() : 0;
    for_taps(rows, columns, step_.dims(0)[3],
             [&](double weight, int64_t at) { most = std::max(most, weight * plane[at]); });
    return most;
  }

  KernelContext& step_;
  const bool average_, half_;
  const double scale_;
  const int64_t ratio_;
  const std::vector<double> image_, rois_;
};

Status roi_align(KernelContext& step) {
  if (Status s = one_of(step, "mode", "avg", "avg max"); !s) return s;
  if (Status s = one_of(step, "coordinate_transformation_mode", "half_pixel",
                        "half_pixel output_half_pixel");
      !s)
    return s;
  if (int_attr(step, "sampling_ratio", 0) > kMostSamples)
    return refuse(step,
                  fmt::format("more than {} samples along a bin aren't computed", kMostSamples));
  if (!step.has_output(0)) return ok();
  return with_element_kind(step.output_array(0).kind(), [&]<class T>(T) -> Status {
    if constexpr (std::is_floating_point_v<T>)
      return RoiAlign(step).align_regions(step.result<T>(0));
    return refuse(step, "regions of integers aren't aligned");
  });
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
  return step.put_output(0, out), ok();
}

constexpr KernelRow kRoiKernels[] = {
    {"MaxRoiPool", max_roi_pool},
    {"RoiAlign", roi_align},
};

}  // namespace

std::span<const KernelRow> roi_kernels() { return kRoiKernels; }

}  // namespace accsim::sim::ref
