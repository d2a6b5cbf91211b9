#include "sim/ref/conv.h"

#include <algorithm>
#include <cstring>

#include "sim/operators/rules.h"
#include "sim/ref/float_product.h"
#include "sim/ref/kernel_parts.h"

namespace accsim::sim::ref {
namespace {

/// The patches of one group of one image as a matrix: row (channel, kernel position), column output
/// pixel. Never stored whole; pieces are written where they are needed.
template <class T>
struct Patches {
  const SlidingWindow& w;
  const T* x;

  int64_t pixels() const { return w.out[0] * w.out[1] * w.out[2]; }

  /// Rows [p, p + rows), columns [j, j + columns) to `to`, rows `width` apart.
  void write_patch(int64_t p, int64_t rows, int64_t j, int64_t columns, T* to,
                   int64_t width) const {
    const int64_t taps = w.tap_count(), plane = w.in[0] * w.in[1] * w.in[2];
    for (int64_t r = 0; r < rows; ++r, to += width) {
      const int64_t tap = (p + r) % taps;
      const int64_t kx = tap % w.kernel[2], ky = tap / w.kernel[2] % w.kernel[1],
                    kz = tap / (w.kernel[2] * w.kernel[1]);
      const T* channel = x + (p + r) / taps * plane;
      for (int64_t c = 0; c < columns;) {  // pixels of one output row at a time
        const int64_t at = j + c, ox = at % w.out[2], row = at / w.out[2];
        const int64_t run = std::min(columns - c, w.out[2] - ox);
        const int64_t iy = row % w.out[1] * w.stride[1] + ky * w.dilation[1] - w.pad[1];
        const int64_t iz = row / w.out[1] * w.stride[0] + kz * w.dilation[0] - w.pad[0];
        if (iy < 0 || iy >= w.in[1] || iz < 0 || iz >= w.in[0])
          std::fill_n(to + c, run, T{});
        else
          write_row(channel + (iz * w.in[1] + iy) * w.in[2],
                    ox * w.stride[2] + kx * w.dilation[2] - w.pad[2], run, to + c);
        c += run;
      }
    }
  }

  /// `run` elements of an input row from column `ix` on, a stride apart; 0 outside the row.
  void write_row(const T* row, int64_t ix, int64_t run, T* to) const {
    const int64_t stride = w.stride[2];
    const int64_t first = ix >= 0 ? 0 : std::min(run, (-ix + stride - 1) / stride);
    const int64_t room = w.in[2] - 1 - ix;
    const int64_t last = std::max(first, room < 0 ? 0 : std::min(run, room / stride + 1));
    std::fill(to, to + first, T{});
    if (stride == 1)
      std::memcpy(to + first, row + ix + first, static_cast<size_t>(last - first) * sizeof(T));
    else
      for (int64_t i = first; i < last; ++i) to[i] = row[ix + i * stride];
    std::fill(to + last, to + run, T{});
  }
};

bool is_plain(const SlidingWindow& w) {
  for (size_t d = 0; d < 3; ++d)
    if (w.kernel[d] != 1 || w.stride[d] != 1 || w.pad[d] != 0 || w.in[d] != w.out[d]) return false;
  return true;
}

/// One channel of a depthwise convolution over an image: out = bias + kernel * in.
void convolve_plane(const SlidingWindow& w, const float* in, const float* kernel, float bias,
                    float* out) {
  for (int64_t y = 0; y < w.out[1]; ++y, out += w.out[2]) {
    std::fill_n(out, w.out[2], bias);
    for (int64_t ky = 0; ky < w.kernel[1]; ++ky) {
      const int64_t row = y * w.stride[1] + ky * w.dilation[1] - w.pad[1];
      if (row < 0 || row >= w.in[1]) continue;
      for (int64_t kx = 0; kx < w.kernel[2]; ++kx) {
        const float weight = kernel[ky * w.kernel[2] + kx];
        const int64_t stride = w.stride[2], shift = kx * w.dilation[2] - w.pad[2];
        // Outputs whose input column lies inside the row.
        const int64_t first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
        const int64_t room = w.in[2] - 1 - shift;
        const int64_t last = room < 0 ? 0 : std::min(room / stride + 1, w.out[2]);
        const float* from = in + row * w.in[2] + shift;
        if (stride == 1)  // without a factor, so that it is done by vectors
          for (int64_t x = first; x < last; ++x) out[x] += weight * from[x];
        else
          for (int64_t x = first; x < last; ++x) out[x] += weight * from[x * stride];
      }
    }
  }
}

void convolve_depthwise(ThreadPool& pool, const ConvShape& s, const float* x, const float* w,
                        const float* bias, float* out) {
  const SlidingWindow& v = s.window;
  const int64_t taps = v.tap_count(), in = v.in[1] * v.in[2], pixels = v.out[1] * v.out[2];
  const int64_t multiple = s.out_channels / s.groups;
  pool.parallel_for(
      s.images * s.out_channels, 1 + 32768 / (pixels * taps + 1), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t c = i % s.out_channels, image = i / s.out_channels;
          convolve_plane(v, x + (image * s.in_channels + c / multiple) * in, w + c * taps,
                         bias != nullptr ? bias[c] : 0, out + i * pixels);
        }
      });
}

}  // namespace

void convolve(ThreadPool& pool, const ConvShape& s, const float* x, const float* w,
              const float* bias, float* out) {
  const int64_t channels = s.in_channels / s.groups, outputs = s.out_channels / s.groups;
  if (channels == 1 && s.window.in[0] == 1 && s.window.kernel[0] == 1 && s.window.pad[0] == 0 &&
      s.groups > 1)
    return convolve_depthwise(pool, s, x, w, bias, out);
  const int64_t plane = s.window.in[0] * s.window.in[1] * s.window.in[2];
  const int64_t depth = channels * s.window.tap_count();
  for (int64_t i = 0; i < s.images * s.groups; ++i) {
    const int64_t g = i % s.groups;
    const Patches<float> patches{s.window, x + i * channels * plane};
    const int64_t pixels = patches.pixels();
    FloatProduct t;
    t.operands = {outputs,   depth,  pixels, w + g * outputs * depth,    depth, false,
                  patches.x, pixels, false,  out + i * outputs * pixels, pixels};
    if (!is_plain(s.window))
      t.write_b = [&](int64_t p, int64_t rows, int64_t j, int64_t columns, float* to,
                      int64_t width) { patches.write_patch(p, rows, j, columns, to, width); };
    t.row_bias = bias != nullptr ? bias + g * outputs : nullptr;
    float_product(pool, t);
  }
}

void convolve(ThreadPool& pool, const ConvShape& s, const double* x, const double* w,
              const double* bias, double* out) {
  const int64_t channels = s.in_channels / s.groups, outputs = s.out_channels / s.groups;
  const int64_t plane = s.window.in[0] * s.window.in[1] * s.window.in[2];
  const int64_t depth = channels * s.window.tap_count();
  constexpr int64_t kAtATime = int64_t{1} << 20;  // elements of patches
  pool.parallel_for(s.images * s.groups, 1, [&](int64_t begin, int64_t end) {
    std::vector<double> columns, results;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t g = i % s.groups;
      const Patches<double> patches{s.window, x + i * channels * plane};
      const int64_t pixels = patches.pixels();
      const int64_t most = std::max<int64_t>(1, kAtATime / std::max<int64_t>(1, depth));
      for (int64_t from = 0; from < pixels; from += most) {
        const int64_t count = std::min(most, pixels - from);
        columns.resize(static_cast<size_t>(depth * count));
        results.resize(static_cast<size_t>(outputs * count));
        patches.write_patch(0, depth, from, count, columns.data(), count);
        multiply_doubles(outputs, depth, count, w + g * outputs * depth, columns.data(),
                         results.data());
        for (int64_t n = 0; n < outputs; ++n) {
          const double add = bias != nullptr ? bias[g * outputs + n] : 0;
          std::transform(results.begin() + n * count, results.begin() + (n + 1) * count,
                         out + (i * outputs + n) * pixels + from,
                         [add](double v) { return v + add; });
        }
      }
    }
  });
}

Status check_weight_zero(const NodeView& node, const ConvShape& shape, size_t i) {
  const int64_t count = node.has_input(i) ? elements(node.dims(i)) : 1;
  if (count == 1 || count == shape.out_channels) return ok();
  return bad_node(node, "the weights' zero point must be one, or one an output channel");
}

std::vector<double> convolve_integers(KernelContext& step, const ConvShape& shape,
                                      const ConvPorts& ports, double x_zero,
                                      const std::vector<double>& w_zero) {
  std::vector<double> x = step.reals(ports.x), w = step.reals(ports.w);
  // A padded position is a zero point, so 0 after it has been taken off.
  for (double& v : x) v -= x_zero;
  const size_t each = w.size() / static_cast<size_t>(std::max<int64_t>(shape.out_channels, 1));
  if (!w_zero.empty())
    for (size_t i = 0; i < w.size(); ++i) w[i] -= w_zero[w_zero.size() == 1 ? 0 : i / each];
  std::vector<double> out(static_cast<size_t>(elements(shape.output_dims(false))));
  convolve(step.pool(), shape, x.data(), w.data(), nullptr, out.data());
  return out;
}

namespace {

Status convolve_input(KernelContext& step) {
  const Result<ConvShape> shape = conv_shape(step, {});
  if (!shape) return shape.errors();
  if (!step.has_output(0)) return ok();
  if (step.input_array(0).kind() == ElementKind::f32) {
    convolve(step.pool(), *shape, step.data<float>(0), step.data<float>(1),
             step.has_input(2) ? step.input_array(2).converted_to(DType::float32).data<float>()
                               : nullptr,
             step.result<float>(0));
    return ok();
  }
  const std::vector<double> x = step.reals(0), w = step.reals(1), bias = step.reals(2);
  std::vector<double> out(static_cast<size_t>(elements(step.out_dims(0))));
  convolve(step.pool(), *shape, x.data(), w.data(), bias.empty() ? nullptr : bias.data(),
           out.data());
  return step.put_output(0, out), ok();
}

Status conv_integer(KernelContext& step) {
  const ConvPorts ports{0, 1, -1, false};
  const Result<ConvShape> shape = conv_shape(step, ports);
  if (!shape) return shape.errors();
  if (Status s = check_weight_zero(step, *shape, 3); !s) return s;
  return step.put_output(0,
                         convolve_integers(step, *shape, ports, step.real_or(2, 0), step.reals(3))),
         ok();
}

/// Spatial geometry of a transposed convolution, three dims, leading ones neutral.
struct Scatter {
  Extent3 in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1},
      pad{0, 0, 0};
};

Result<Scatter> scatter_of(const KernelContext& step) {
  const Dims &x = step.dims(0), &w = step.dims(1), &y = step.out_dims(0);
  const size_t rank = x.size() - 2;
  const Result<WindowAttrs> attrs = window_attrs(step, rank);
  if (!attrs) return attrs.errors();
  const auto extra = step.attr("output_padding", std::vector<int64_t>(rank, 0));
  const bool wanted = step.has_attr("output_shape");
  Scatter s;
  for (size_t d = 0; d < rank; ++d) {
    const size_t at = 3 - rank + d;
    s.in[at] = x[d + 2];
    s.out[at] = y[d + 2];
    s.kernel[at] = w[d + 2];
    s.stride[at] = attrs->strides[d];
    s.dilation[at] = attrs->dilations[d];
    s.pad[at] = attrs->before[d];
    if (!wanted && !attrs->has_same_padding()) continue;
    // The padding follows from the output: what all positions cover less what is kept.
    const int64_t total = s.stride[at] * (s.in[at] - 1) + extra[d] +
                          dilated_extent(s.kernel[at], s.dilation[at]) - s.out[at];
    const int64_t half = std::max<int64_t>(total, 0) / 2;
    s.pad[at] = attrs->auto_pad == "SAME_UPPER" ? half : std::max<int64_t>(total, 0) - half;
  }
  return s;
}

/// Adds one result matrix (row: channel and tap, column: input pixel) into an output image.
void add_scattered(const Scatter& s, const double* from, int64_t channels, double* out) {
  const int64_t plane = s.out[0] * s.out[1] * s.out[2];
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t kz = 0; kz < s.kernel[0]; ++kz)
      for (int64_t ky = 0; ky < s.kernel[1]; ++ky)
        for (int64_t kx = 0; kx < s.kernel[2]; ++kx)
          for (int64_t z = 0; z < s.in[0]; ++z)
            for (int64_t y = 0; y < s.in[1]; ++y)
              for (int64_t x = 0; x < s.in[2]; ++x, ++from) {
                const int64_t oz = z * s.stride[0] + kz * s.dilation[0] - s.pad[0];
                const int64_t oy = y * s.stride[1] + ky * s.dilation[1] - s.pad[1];
                const int64_t ox = x * s.stride[2] + kx * s.dilation[2] - s.pad[2];
                if (oz < 0 || oz >= s.out[0] || oy < 0 || oy >= s.out[1] || ox < 0 ||
                    ox >= s.out[2])
                  continue;
                out[c * plane + (oz * s.out[1] + oy) * s.out[2] + ox] += *from;
              }
}

Status conv_transpose(KernelContext& step) {
  const Result<Scatter> s = scatter_of(step);
  if (!s) return s.errors();
  const Dims &x = step.dims(0), &w = step.dims(1);
  const int64_t groups = int_attr(step, "group", 1), channels = x[1] / groups, outputs = w[1];
  const int64_t taps = s->kernel[0] * s->kernel[1] * s->kernel[2];
  const int64_t pixels = s->in[0] * s->in[1] * s->in[2];
  const int64_t plane = s->out[0] * s->out[1] * s->out[2];
  const std::vector<double> in = step.reals(0), weights = step.reals(1), bias = step.reals(2);
  std::vector<double> out(static_cast<size_t>(elements(step.out_dims(0))), 0);
  step.pool().parallel_for(x[0] * groups, 1, [&](int64_t begin, int64_t end) {
    const int64_t count = outputs * taps * pixels;
    const Held held(step.memory(), count * static_cast<int64_t>(sizeof(double)));
    std::vector<double> results(static_cast<size_t>(count));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t g = i % groups;
      multiply(step.pool(), {outputs * taps, channels, pixels, true, false},
               weights.data() + g * channels * outputs * taps, in.data() + i * channels * pixels,
               results.data());
      double* to = out.data() + i * outputs * plane;
      if (!bias.empty())
        for (int64_t n = 0; n < outputs * plane; ++n)
          to[n] = bias[static_cast<size_t>(g * outputs + n / plane)];
      add_scattered(*s, results.data(), outputs, to);
    }
  });
  return step.put_output(0, out), ok();
}

constexpr KernelRow kConvKernels[] = {
    {"Conv", convolve_input},
    {"ConvInteger", conv_integer},
    {"ConvTranspose", conv_transpose},
};

}  // namespace

std::span<const KernelRow> conv_kernels() { return kConvKernels; }

}  // namespace accsim::sim::ref
