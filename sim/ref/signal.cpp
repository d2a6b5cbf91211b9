#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "sim/operators/fold.h"
#include "sim/operators/rules.h"
#include "sim/ref/kernel_context.h"

namespace accsim::sim::ref {
namespace {

using Complex = std::complex<double>;

/// The discrete Fourier transform by its definition, or by halves where the length is even.
std::vector<Complex> fourier_transform(std::vector<Complex> x, bool inverse) {
  const size_t n = x.size();
  const double turn = (inverse ? 2 : -2) * std::numbers::pi / static_cast<double>(n);
  const auto root = [&](size_t k) { return std::polar(1.0, turn * static_cast<double>(k % n)); };
  std::vector<Complex> out(n);
  if (n > 8 && n % 2 == 0) {
    std::vector<Complex> even, odd;
    for (size_t i = 0; i < n; ++i) (i % 2 == 0 ? even : odd).push_back(x[i]);
    even = fourier_transform(std::move(even), inverse);
    odd = fourier_transform(std::move(odd), inverse);
    for (size_t k = 0; k < n; ++k) out[k] = even[k % (n / 2)] + root(k) * odd[k % (n / 2)];
    return out;
  }
  for (size_t k = 0; k < n; ++k)
    for (size_t i = 0; i < n; ++i) out[k] += x[i] * root(k * i);
  return out;
}

Status dft_kernel(KernelContext& step) {
  const Dims &x = step.dims(0), &y = step.out_dims(0);
  int64_t stated = step.opset() < 20 ? int_attr(step, "axis", 1) : -2;
  if (step.opset() >= 20 && step.has_input(2)) stated = step.integers(2).at(0);
  const Result<int64_t> axis = normalize_axis(stated, step.rank(0));
  if (!axis) return bad_node(step, axis.errors().front().message);
  const auto a = static_cast<size_t>(*axis);
  const bool inverse = int_attr(step, "inverse", 0) != 0;
  const bool onesided = int_attr(step, "onesided", 0) != 0, to_real = onesided && inverse;
  const int64_t points = step.has_input(1) ? step.integers(1).at(0)
                         : to_real         ? 2 * (x[a] - 1)
                                           : x[a];
  const std::vector<double> in = step.reals(0);
  std::vector<double> out(static_cast<size_t>(elements(y)));
  // Lines along the axis over numbers of one or two parts.
  const int64_t in_parts = x.back(), out_parts = y.back();
  const Lines from = lines_along({x.begin(), x.end() - 1}, *axis),
              to = lines_along({y.begin(), y.end() - 1}, *axis);
  for (int64_t o = 0; o < from.outer; ++o)
    for (int64_t i = 0; i < from.inner; ++i) {
      std::vector<Complex> line(static_cast<size_t>(points));
      for (int64_t n = 0; n < std::min(points, from.length); ++n) {
        const auto at = static_cast<size_t>(from.offset_of(o, i, n) * in_parts);
        line[static_cast<size_t>(n)] = {in[at], in_parts == 2 ? in[at + 1] : 0};
      }
      if (to_real)  // the half that isn't given mirrors the other
        for (int64_t n = points / 2 + 1; n < points; ++n)
          line[static_cast<size_t>(n)] = std::conj(line[static_cast<size_t>(points - n)]);
      line = fourier_transform(std::move(line), inverse);
      for (int64_t n = 0; n < to.length; ++n) {
        Complex v = line[static_cast<size_t>(n)];
        if (inverse) v /= static_cast<double>(points);
        const auto at = static_cast<size_t>(to.offset_of(o, i, n) * out_parts);
        out[at] = v.real();
        if (out_parts == 2) out[at + 1] = v.imag();
      }
    }
  return step.put_output(0, out), ok();
}

Status stft_kernel(KernelContext& step) {
  const Dims &x = step.dims(0), &y = step.out_dims(0);
  const int64_t hop = step.integers(1).at(0), parts = x.size() == 3 ? x[2] : 1;
  const std::vector<double> in = step.reals(0), window = step.reals(2);
  const int64_t length =
      step.has_input(3) ? step.integers(3).at(0) : static_cast<int64_t>(window.size());
  std::vector<double> out;
  for (int64_t b = 0; b < y[0]; ++b)
    for (int64_t f = 0; f < y[1]; ++f) {
      std::vector<Complex> frame;
      for (int64_t i = 0; i < length; ++i) {
        const auto at = static_cast<size_t>((b * x[1] + f * hop + i) * parts);
        const double w = window.empty() ? 1 : window[static_cast<size_t>(i)];
        frame.emplace_back(in[at] * w, parts == 2 ? in[at + 1] * w : 0);
      }
      frame = fourier_transform(std::move(frame), false);
      for (int64_t k = 0; k < y[2]; ++k) {
        out.push_back(frame[static_cast<size_t>(k)].real());
        out.push_back(frame[static_cast<size_t>(k)].imag());
      }
    }
  return step.put_output(0, out), ok();
}

/// a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n).
Status cosine_window(KernelContext& step, double a0, double a1, double a2) {
  const bool periodic = int_attr(step, "periodic", 1) != 0;
  const auto size = static_cast<size_t>(step.out_dims(0)[0]);
  const double n = static_cast<double>(size) - (periodic ? 0 : 1);
  std::vector<double> out(size);
  for (size_t i = 0; i < size; ++i) {
    const double at = 2 * std::numbers::pi * static_cast<double>(i) / n;
    out[i] = a0 - a1 * std::cos(at) + a2 * std::cos(2 * at);
  }
  return step.put_output(0, out), ok();
}

Status hann_window(KernelContext& step) { return cosine_window(step, 0.5, 0.5, 0); }
Status hamming_window(KernelContext& step) { return cosine_window(step, 25.0 / 46, 21.0 / 46, 0); }
Status blackman_window(KernelContext& step) { return cosine_window(step, 0.42, 0.5, 0.08); }

Status mel_weights(KernelContext& step) {
  const int64_t bins = step.out_dims(0)[1], rows = step.out_dims(0)[0];
  const auto length = static_cast<double>(step.integers(1).at(0));
  const double rate = step.real_or(2, 1), low = step.real_or(3, 0), high = step.real_or(4, 0);
  const auto mel = [](double hz) { return 2595 * std::log10(1 + hz / 700); };
  const double start = mel(low), width = (mel(high) - start) / static_cast<double>(bins + 2);
  std::vector<int64_t> edge;  // the spectrum bin where each triangle begins
  for (int64_t i = 0; i < bins + 2; ++i) {
    const double hz = 700 * (std::pow(10, (start + width * static_cast<double>(i)) / 2595) - 1);
    const double bin = std::floor((length + 1) * hz / rate);
    if (!(std::abs(bin) < 1e9)) return bad_node(step, "the band edges make no sense");
    edge.push_back(static_cast<int64_t>(bin));
  }
  std::vector<double> out(static_cast<size_t>(rows * bins), 0);
  const auto set = [&](int64_t row, int64_t bin, double v) {
    if (row >= 0 && row < rows) out[static_cast<size_t>(row * bins + bin)] = v;
  };
  for (int64_t i = 0; i < bins; ++i) {
    const auto n = static_cast<size_t>(i);
    const int64_t left = edge[n], middle = edge[n + 1], right = edge[n + 2];
    if (middle == left) set(middle, i, 1);
    for (int64_t j = std::max<int64_t>(left, 0); j <= std::min(middle, rows - 1); ++j)
      if (middle > left)
        set(j, i, static_cast<double>(j - left) / static_cast<double>(middle - left));
    for (int64_t j = std::max<int64_t>(middle, 0); j < std::min(right, rows); ++j)
      set(j, i, static_cast<double>(right - j) / static_cast<double>(right - middle));
  }
  return step.put_output(0, out), ok();
}

constexpr KernelRow kSignalKernels[] = {
    {"BlackmanWindow", blackman_window}, {"DFT", dft_kernel},
    {"HammingWindow", hamming_window},   {"HannWindow", hann_window},
    {"MelWeightMatrix", mel_weights},    {"STFT", stft_kernel},
};

}  // namespace

std::span<const KernelRow> signal_kernels() { return kSignalKernels; }

}  // namespace accsim::sim::ref
