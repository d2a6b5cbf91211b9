#include <fmt/format.h>

#include <cmath>

#include "sim/operators/rules.h"
#include "sim/ref/conv.h"
#include "sim/ref/kernel_parts.h"

namespace accsim::sim::ref {
namespace {

/// Bilinear sample with zeros all around.
double bilinear_sample(const double* plane, int64_t height, int64_t width, double y, double x) {
  if (!(y > -1 && y < static_cast<double>(height) && x > -1 && x < static_cast<double>(width)))
    return 0;
  const auto y0 = static_cast<int64_t>(std::floor(y)), x0 = static_cast<int64_t>(std::floor(x));
  double sum = 0;
  for (int64_t i = y0; i <= y0 + 1; ++i)
    for (int64_t j = x0; j <= x0 + 1; ++j)
      if (i >= 0 && i < height && j >= 0 && j < width)
        sum += plane[i * width + j] * (1 - std::abs(y - static_cast<double>(i))) *
               (1 - std::abs(x - static_cast<double>(j)));
  return sum;
}

/// The sampled patches of image n as a matrix: row (channel, kernel position), column output pixel.
std::vector<double> sampled_patches(const KernelContext& step, const ConvShape& s, int64_t n,
                                    const std::vector<double>& x, const std::vector<double>& offset,
                                    const std::vector<double>& mask) {
  const SlidingWindow& w = s.window;
  const int64_t pixels = w.out[1] * w.out[2], taps = w.kernel[1] * w.kernel[2];
  const int64_t groups = int_attr(step, "offset_group", 1);
  std::vector<double> out;
  for (int64_t c = 0; c < s.in_channels; ++c)
    for (int64_t k = 0; k < taps; ++k) {
      const int64_t g = c / (s.in_channels / groups), at = (n * groups + g) * taps + k;
      for (int64_t p = 0; p < pixels; ++p) {
        const auto shift = [&](int64_t part) {
          return offset[static_cast<size_t>((2 * at + part) * pixels + p)];
        };
        const int64_t row = p / w.out[2] * w.stride[1] + k / w.kernel[2] * w.dilation[1] - w.pad[1];
        const int64_t col = p % w.out[2] * w.stride[2] + k % w.kernel[2] * w.dilation[2] - w.pad[2];
        const double v = bilinear_sample(x.data() + (n * s.in_channels + c) * w.in[1] * w.in[2],
                                         w.in[1], w.in[2], static_cast<double>(row) + shift(0),
                                         static_cast<double>(col) + shift(1));
        out.push_back(mask.empty() ? v : v * mask[static_cast<size_t>(at * pixels + p)]);
      }
    }
  return out;
}

Status deform_conv(KernelContext& step) {
  const ConvPorts ports{0, 1, 3, false};
  const Result<ConvShape> shape = conv_shape(step, ports);
  if (!shape) return shape.errors();
  if (shape->window.rank != 2) return refuse(step, "other than two spatial dims");
  const std::vector<double> x = step.reals(0), w = step.reals(1), offset = step.reals(2),
                            bias = step.reals(3), mask = step.reals(4);
  const int64_t depth = shape->in_channels / shape->groups * shape->window.tap_count();
  const int64_t outputs = shape->out_channels / shape->groups;
  const int64_t pixels = shape->window.out[1] * shape->window.out[2];
  std::vector<double> out(static_cast<size_t>(elements(step.out_dims(0))));
  const Held held(step.memory(),
                  shape->groups * depth * pixels * static_cast<int64_t>(sizeof(double)));
  for (int64_t n = 0; n < shape->images; ++n) {
    const std::vector<double> patches = sampled_patches(step, *shape, n, x, offset, mask);
    for (int64_t g = 0; g < shape->groups; ++g)
      multiply_doubles(outputs, depth, pixels, w.data() + g * outputs * depth,
                       patches.data() + g * depth * pixels,
                       out.data() + (n * shape->groups + g) * outputs * pixels);
  }
  if (!bias.empty())
    for (size_t i = 0; i < out.size(); ++i)
      out[i] += bias[i / static_cast<size_t>(pixels) % bias.size()];
  return step.put_output(0, out), ok();
}

Status col2im_kernel(KernelContext& step) {
  const std::vector<int64_t> image = step.integers(1), block = step.integers(2);
  const size_t rank = image.size();
  const auto list = [&](const char* name, size_t size, int64_t fallback) {
    return step.attr(name, std::vector<int64_t>(size, fallback));
  };
  const auto strides = list("strides", rank, 1), dilations = list("dilations", rank, 1),
             pads = list("pads", 2 * rank, 0);
  if (block.size() != rank || strides.size() != rank || dilations.size() != rank ||
      pads.size() != 2 * rank)
    return bad_node(step, "lists must have an entry for every spatial dim");
  Dims windows;
  for (size_t d = 0; d < rank; ++d) {
    constexpr int64_t kMost = int64_t{1} << 30;
    for (const int64_t v : {image[d], block[d], strides[d], dilations[d], pads[d], pads[d + rank]})
      if (v < -kMost || v > kMost) return bad_node(step, fmt::format("{} is too large", v));
    const int64_t room = image[d] + pads[d] + pads[d + rank] - dilations[d] * (block[d] - 1) - 1;
    if (strides[d] < 1 || dilations[d] < 1 || block[d] < 1 || room < 0)
      return bad_node(step, "the blocks don't fit the image");
    windows.push_back(room / strides[d] + 1);
  }
  const Dims &x = step.dims(0), &y = step.out_dims(0);
  if (x.size() != 3 || x[1] / y[1] != checked_elements(block) || x[2] != checked_elements(windows))
    return bad_node(step, fmt::format("columns {} don't go with the image", to_string(x)));
  const int64_t taps = elements(block), count = elements(windows), plane = elements(image);
  const std::vector<double> in = step.reals(0);
  std::vector<double> out(static_cast<size_t>(elements(y)), 0);
  for (size_t i = 0; i < in.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    int64_t window = at % count, tap = at / count % taps, to = 0, step_size = 1;
    bool inside = true;
    for (size_t d = rank; d-- > 0;) {
      const int64_t p = window % windows[d] * strides[d] + tap % block[d] * dilations[d] - pads[d];
      window /= windows[d];
      tap /= block[d];
      inside = inside && p >= 0 && p < image[d];
      to += inside ? p * step_size : 0;
      step_size *= image[d];
    }
    if (inside) out[static_cast<size_t>(at / (count * taps) * plane + to)] += in[i];
  }
  return step.put_output(0, out), ok();
}

constexpr KernelRow kPatchKernels[] = {
    {"Col2Im", col2im_kernel},
    {"DeformConv", deform_conv},
};

}  // namespace

std::span<const KernelRow> patch_kernels() { return kPatchKernels; }

}  // namespace accsim::sim::ref
