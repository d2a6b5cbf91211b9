#pragma once
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "hw/golden/row_math.h"
#include "tests/hw/golden/row_reference.h"

namespace accsim::test {

/// Distances to the real result, in output steps. A real result beyond the range of the output
/// counts as the end of the range.
struct RowErrors {
  double max = 0, sum = 0;
  int64_t elements = 0;
  double worst_share = 0;  ///< the largest share that a distance took of its bound
  double mean() const { return elements == 0 ? 0 : sum / static_cast<double>(elements); }

  void add(double got, double real, double bound, int64_t times = 1) {
    const double error = std::abs(got - std::clamp(real, -128.0, 127.0));
    max = std::max(max, error);
    sum += error * static_cast<double>(times);
    elements += times;
    worst_share = std::max(worst_share, error / bound);
  }
};

/// Random rows through every row operation, each beside its definition in double with the bound of
/// docs/vector-arithmetic.md, and beside TensorFlow Lite where it has the operation.
class RowTrials {
 public:
  RowErrors softmax, lite_softmax;  ///< the same rows, of 1 to 4095 elements
  RowErrors long_softmax;           ///< of 4096 and more
  RowErrors masked, layer_norm, rms_norm;
  RowErrors l2, lite_l2;  ///< the same rows
  RowErrors average;

  explicit RowTrials(unsigned seed) : random_(seed) {
    for (const double scale : {0.002, 0.0078125, 0.02, 0.05, 0.1, 0.25, 1.0, 3.0}) add_scale(scale);
    for (int i = 0; i < 8; ++i) add_scale(std::exp(real(-5, 1)));
    for (size_t i = 0; i < kLongest; ++i) {
      gamma_.push_back(i % 7 == 0 ? -real(0, 0.01) : real(0.2, 3));
      beta_.push_back(real(-2, 2));
    }
    for (const double output : {0.01, 0.037, 0.5}) {
      NormOutput o{output, {}};
      for (size_t i = 0; i < kLongest; ++i)
        for (size_t bits = 0; bits < o.channels.size(); ++bits)
          o.channels[bits].push_back(
              *hw::norm_channel(gamma_[i], beta_[i], output, static_cast<int32_t>(24 + bits)));
      norm_outputs_.push_back(std::move(o));
    }
  }

  void run(int64_t rows) {
    for (int64_t i = 0; i < rows; ++i) {
      fill_row(integer(0, 50) == 0 ? 4096 : static_cast<int>(std::exp2(real(0, 12))));
      try_softmax();
      try_masked();
      try_norm(true);
      try_norm(false);
      try_l2();
      try_mean();
    }
  }

  /// The longest rows that there can be, through what has no channels.
  void run_longest(int64_t rows) {
    for (int64_t i = 0; i < rows; ++i) {
      fill_row(hw::kRowElements);
      try_softmax();
      try_masked();
      try_l2();
      try_mean();
    }
  }

  /// What the 25 bits of a channel's multiplier take from an element of 128 steps at most;
  /// TensorFlow Lite's L2 normalisation has one of 31 bits.
  static constexpr double kMultiplierLoss = 128 * 0x1p-25;

  /// The bound without a mask: half a step, the errors of n terms and of the reciprocal.
  static double softmax_bound(size_t n, double steps) {
    const double terms = 1.5 * 0x1p-30 * static_cast<double>(n + 1);
    return 0.5 + steps * (terms / (1 - terms) + 0x1p-28);
  }

 private:
  static constexpr size_t kLongest = 4096;
  struct Scale {
    double scale;
    hw::SoftmaxTables tables;
    std::array<double, 256> exp;  ///< by difference
    LiteSoftmax lite;
  };
  struct NormOutput {
    double scale;
    std::array<std::vector<hw::NormChannel>, 7> channels;  ///< by unit_bits, from 24
  };

  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  void add_scale(double scale) {
    Scale s{scale, *hw::softmax_tables({.input = scale}), {}, LiteSoftmax(scale)};
    for (size_t d = 0; d < 256; ++d) s.exp[d] = std::exp(-scale * static_cast<double>(d));
    scales_.push_back(s);
  }
  const Scale& any_scale() { return scales_[static_cast<size_t>(integer(0, 15))]; }

  /// A row of one of six distributions.
  void fill_row(int length) {
    row_.resize(static_cast<size_t>(length));
    const int kind = integer(0, 5), a = integer(-128, 127), b = integer(-128, 127);
    const double middle = real(-60, 60), deviation = std::exp(real(-1, 4));
    for (int8_t& x : row_) {
      const auto bits = static_cast<uint32_t>(random_());
      // The sum of four bytes, of mean 510 and variance 21845: nearly a normal distribution.
      const uint32_t bytes = (bits & 255) + (bits >> 8 & 255) + (bits >> 16 & 255) + (bits >> 24);
      const double normal = (bytes - 510.0) / 147.8;
      int value = a;                                              // constant
      if (kind == 0) value = static_cast<int>(bits & 255) - 128;  // uniform
      if (kind == 1) value = static_cast<int>(middle + deviation * normal);
      if (kind == 2) value = -100 + static_cast<int>(bits & 15);  // peaked, the peaks below
      if (kind == 3) value = bits & 1 ? 127 : -128;               // extreme
      if (kind == 4) value = bits % 16 == 0 ? a : b;              // two values
      x = static_cast<int8_t>(std::clamp(value, -128, 127));
    }
    if (kind == 2)
      for (int peak = integer(1, 3); peak > 0; --peak)
        row_[static_cast<size_t>(integer(0, length - 1))] = static_cast<int8_t>(integer(a, 127));
    out_.resize(row_.size());
    counts_ = histogram(row_);
  }

  void try_softmax() {
    const Scale& s = any_scale();
    hw::softmax_row(s.tables, row_, {}, out_);
    const int maximum = *std::max_element(row_.begin(), row_.end());
    std::array<int32_t, 256> times{};
    const auto top = static_cast<size_t>(maximum + int64_t{128});
    for (size_t d = 0; d <= top; ++d) times[d] = counts_[top - d];
    double sum = 0;
    for (size_t d = 0; d < 256; ++d) sum += times[d] * s.exp[d];
    const double bound = softmax_bound(row_.size(), 256);
    RowErrors& ours = row_.size() >= kLongest ? long_softmax : softmax;
    for (size_t i = 0; i < row_.size(); ++i)
      ours.add(out_[i], 256 * s.exp[static_cast<size_t>(maximum - row_[i])] / sum - 128, bound);
    if (row_.size() >= kLongest) return;  // more than TensorFlow Lite's sum can hold
    const std::array<int8_t, 256> lite = s.lite.row(times);
    for (size_t d = 0; d < 256; ++d)
      if (times[d] > 0) lite_softmax.add(lite[d], 256 * s.exp[d] / sum - 128, 1, times[d]);
  }

  /// Masks of two values, as of padding and causality, or of any, as of relative positions.
  void try_masked() {
    const double input = std::exp(real(-6, 1)), steps = 1 / (integer(0, 1) ? 1.0 / 256 : 0.0031);
    const bool two = integer(0, 1) == 0;
    const double mask_scale = two ? 1.0 : std::exp(real(-6, 1));
    const auto t =
        hw::softmax_tables({.input = input, .mask = mask_scale, .output = {1 / steps, -128}});
    mask_.resize(row_.size());
    for (int8_t& m : mask_) {
      const auto bits = static_cast<uint32_t>(random_());
      m = static_cast<int8_t>(two ? (bits & 1 ? -128 : 0) : static_cast<int>(bits & 255) - 128);
    }
    hw::softmax_row(*t, row_, mask_, out_);
    logits_.resize(row_.size());
    double maximum = -1e9, sum = 0;
    for (size_t i = 0; i < row_.size(); ++i) {
      logits_[i] = input * row_[i] + mask_scale * mask_[i];
      maximum = std::max(maximum, logits_[i]);
    }
    for (const double logit : logits_) sum += std::exp(logit - maximum);
    // A difference is off by half a unit of the tables, and by what both multipliers are.
    const double unit = unit_of(input, mask_scale);
    const double off = unit * (0.5 + 255 * std::ldexp(1.0, -t->difference_shift));
    const double bound = softmax_bound(row_.size(), steps) + steps * off / 2;
    for (size_t i = 0; i < row_.size(); ++i)
      masked.add(out_[i], steps * std::exp(logits_[i] - maximum) / sum - 128, bound);
  }

  /// The unit of docs/vector-arithmetic.md.
  static double unit_of(double input, double mask) {
    const double reach = std::min(22.5, 255 * (input + mask));
    const double parts = std::floor(input * 4094 / reach);
    return parts >= 1 ? input / parts : reach / 4094;
  }

  void try_norm(bool centred) {
    const NormOutput& o = norm_outputs_[static_cast<size_t>(integer(0, 2))];
    const double input = std::exp(real(-5, 0)), epsilon = integer(0, 1) ? 1e-5 : 1e-12;
    const auto n = static_cast<double>(row_.size());
    hw::NormConstants c;
    c.centred = centred;
    c.input_zero = integer(-20, 20);
    c.output_zero = integer(-10, 10);
    c.epsilon = *hw::norm_epsilon(epsilon, input, static_cast<int64_t>(row_.size()));
    const int64_t per = integer(0, 1) ? 1 : 1 + static_cast<int64_t>(row_.size()) / 3;
    c.unit_bits = hw::norm_unit_bits(static_cast<int64_t>(row_.size()));
    hw::norm_row(c, row_, o.channels[static_cast<size_t>(c.unit_bits - 24)], per, out_);
    const Moments m = moments(counts_, row_.size());
    const double zero = c.input_zero;
    const double middle = centred ? m.mean : zero;
    const double variance = centred ? m.variance : m.square - 2 * zero * m.mean + zero * zero;
    const double root = std::sqrt(variance + epsilon / (input * input));
    // 2^14 of this is the integer whose root is taken; half a unit of that is epsilon's.
    const double wide = n * n * variance;
    const double relative = (wide > 0.5 ? 0x1p-16 / wide : 0) * 1.01 + 0x1p-25 + 0x1p-28;
    for (size_t i = 0; i < row_.size(); ++i) {
      const size_t channel = i / static_cast<size_t>(per);
      const double gamma = gamma_[channel] / o.scale, beta = beta_[channel] / o.scale;
      const double unit = root > 0 ? (row_[i] - middle) / root : 0;
      const double bound = 0.5 + std::abs(unit * gamma) * relative +
                           std::abs(gamma) * std::ldexp(1, -c.unit_bits) + 0x1p-20;
      (centred ? layer_norm : rms_norm).add(out_[i], unit * gamma + beta + c.output_zero, bound);
    }
  }

  /// x / sqrt(sum of squares) is RMSNorm with a gamma of 1 / sqrt(n).
  void try_l2() {
    int32_t squares = 0;
    for (const int8_t x : row_) squares += x * x;
    if (squares == 0) return;
    hw::NormConstants c;
    c.centred = false;
    c.unit_bits = hw::norm_unit_bits(static_cast<int64_t>(row_.size()));
    const auto n = static_cast<double>(row_.size());
    const std::array channel{*hw::norm_channel(1 / std::sqrt(n), 0, 1.0 / 128, c.unit_bits)};
    hw::norm_row(c, row_, channel, static_cast<int64_t>(row_.size()), out_);
    const LiteL2 lite(squares);
    const double bound = 0.5 + kMultiplierLoss +
                         128 * (0x1p-28 + std::ldexp(1 / std::sqrt(n), -c.unit_bits)) + 0x1p-20;
    for (size_t i = 0; i < row_.size(); ++i) {
      const double y = 128 * row_[i] / std::sqrt(static_cast<double>(squares));
      l2.add(out_[i], y, bound);
      lite_l2.add(lite.value(row_[i]), y, 1);
    }
  }

  void try_mean() {
    const hw::RowReduction r{hw::mean_scale(static_cast<int64_t>(row_.size()))};
    average.add(hw::reduce_row(r, row_), moments(counts_, row_.size()).mean, 0.5 + 1e-9);
  }

  std::mt19937 random_;
  std::vector<Scale> scales_;
  std::vector<double> gamma_, beta_;
  std::vector<NormOutput> norm_outputs_;
  std::vector<int8_t> row_, mask_, out_;
  std::vector<double> logits_;
  Histogram counts_{};
};

}  // namespace accsim::test
