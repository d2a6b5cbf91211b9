#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>

/// What the vector unit's row operations are measured by: their definitions in double, and
/// TensorFlow Lite's int8 softmax and L2 normalisation, written from their published definitions
/// (fixed point of gemmlowp: a Q<i> number is an int32 with i integer and 31 - i fraction bits).
namespace accsim::test {

// ---- gemmlowp's primitives ----------------------------------------------------------------------

/// Twice the product's upper half, rounded to nearest: Q<a> times Q<b> is Q<a + b>.
inline int32_t q_times(int32_t a, int32_t b) {
  constexpr int32_t kLowest = std::numeric_limits<int32_t>::min();
  if (a == kLowest && b == kLowest) return std::numeric_limits<int32_t>::max();
  const int64_t product = int64_t{a} * b;
  const int64_t nudge = product >= 0 ? int64_t{1} << 30 : 1 - (int64_t{1} << 30);
  return static_cast<int32_t>((product + nudge) / (int64_t{1} << 31));
}

/// x / 2^bits to nearest, halves away from zero.
inline int32_t q_down(int32_t x, int bits) {
  const int64_t half = (int64_t{1} << bits) / 2, size = std::abs(int64_t{x});
  const auto moved = static_cast<int32_t>((size + half) >> bits);
  return x < 0 ? -moved : moved;
}

/// x * 2^bits, saturated.
inline int32_t q_up(int32_t x, int bits) {
  return static_cast<int32_t>(std::clamp<int64_t>(int64_t{x} << bits,
                                                  std::numeric_limits<int32_t>::min(),
                                                  std::numeric_limits<int32_t>::max()));
}

inline int32_t q_constant(double real, int integer_bits) {
  return static_cast<int32_t>(
      std::min(std::round(std::ldexp(real, 31 - integer_bits)), 2147483647.0));
}

/// exp of a Q5 in -32 .. 0 as Q0: a Taylor polynomial of degree 4 around -1/8 for the quarter that
/// is left over, times one constant for every bit of the rest, 1/4 to 16.
inline int32_t q_exp(int32_t a) {
  if (a == 0) return std::numeric_limits<int32_t>::max();
  const int32_t quarter = 1 << 24;
  const int32_t part = (a & (quarter - 1)) - quarter;  // in -1/4 .. 0
  const int32_t x = q_up(part, 5) + (1 << 28);
  const int32_t x2 = q_times(x, x), x3 = q_times(x2, x), x4 = q_times(x2, x2);
  const int32_t third = q_constant(1.0 / 3, 0), start = q_constant(std::exp(-0.125), 0);
  const int32_t higher = q_down(q_times(q_down(x4, 2) + x3, third) + x2, 1);
  int32_t result = start + q_times(start, x + higher);
  const int32_t rest = part - a;
  for (int bit = -2; bit <= 4; ++bit)
    if ((rest >> (26 + bit)) & 1)
      result = q_times(result, q_constant(std::exp(-std::ldexp(1.0, bit)), 0));
  return result;
}

/// 1 / (1 + a) of a Q0 in 0 .. 1 as Q0: three Newton steps in Q2 for the half of the denominator.
inline int32_t q_one_over_one_plus(int32_t a) {
  const int64_t most = std::numeric_limits<int32_t>::max();
  const auto half = static_cast<int32_t>((a + most + 1) / 2);
  int32_t x = q_constant(48.0 / 17, 2) + q_times(half, q_constant(-32.0 / 17, 2));
  for (int step = 0; step < 3; ++step) x += q_up(q_times(x, (1 << 29) - q_times(half, x)), 2);
  return q_up(x, 1);
}

// ---- TensorFlow Lite ----------------------------------------------------------------------------

/// TensorFlow Lite's int8 softmax, output scale 1/256, zero point -128. Rows of 4095 elements at
/// most: its sum has 12 integer bits.
class LiteSoftmax {
 public:
  explicit LiteSoftmax(double scale) {
    const double real = std::min(std::ldexp(scale, 26), 2147483647.0);
    int left = 0;
    auto multiplier = static_cast<int64_t>(std::round(std::ldexp(std::frexp(real, &left), 31)));
    if (multiplier == int64_t{1} << 31) {
      multiplier /= 2;
      ++left;
    }
    lowest_ = -static_cast<int>(std::floor(31.0 * std::ldexp(1.0, 26 - left)));
    for (int d = 0; d < 256; ++d)
      if (-d >= lowest_)
        exp_[static_cast<size_t>(d)] =
            q_exp(q_times(-d * (1 << left), static_cast<int32_t>(multiplier)));
  }

  /// Outputs by difference to the maximum, for a row that has each difference so many times.
  std::array<int8_t, 256> row(const std::array<int32_t, 256>& times) const {
    int32_t sum = 0;
    for (size_t d = 0; d < 256; ++d) sum += times[d] * q_down(exp_[d], 12);
    int zeros = 0;
    while (static_cast<uint32_t>(sum) << zeros < 1U << 31) ++zeros;
    const auto rest = static_cast<int32_t>((static_cast<uint32_t>(sum) << zeros) - (1U << 31));
    const int32_t inverse = q_one_over_one_plus(rest);
    std::array<int8_t, 256> out{};
    for (size_t d = 0; d < 256; ++d) {
      const int32_t y = q_down(q_times(inverse, exp_[d]), 12 - zeros + 31 - 8) - 128;
      out[d] = static_cast<int8_t>(std::min(std::max(y, -128), 127));
    }
    return out;
  }

 private:
  int lowest_ = 0;                  ///< a difference below gives 0
  std::array<int32_t, 256> exp_{};  ///< Q0
};

/// TensorFlow Lite's L2 normalisation of int8, zero point 0, output scale 1/128: the inverse root
/// of the sum of squares by five Newton steps in Q3, one rounding at the end.
class LiteL2 {
 public:
  explicit LiteL2(int32_t squares) {
    if (squares <= 1) {
      multiplier_ = std::numeric_limits<int32_t>::max();
      return;
    }
    int shift = 11, zeros = 0;
    for (; squares >= 1 << 29; ++shift) squares /= 4;
    while (static_cast<uint32_t>(squares) << zeros < 1U << 31) ++zeros;
    const int pairs = (zeros - 1) / 2 - 1;
    shift -= pairs;
    const int32_t value = (squares << (2 * pairs)) >> 1, half = q_down(value, 1);
    const int32_t three_halves = q_constant(1.5, 3);
    int32_t x = q_constant(1, 3);
    for (int step = 0; step < 5; ++step) {
      const int32_t cube = q_up(q_times(q_times(x, x), x), 6);
      x = q_up(q_times(three_halves, x) - q_times(half, cube), 3);
    }
    multiplier_ = q_times(x, q_constant(std::sqrt(2.0) / 2, 0));
    for (; shift < 0; ++shift) multiplier_ *= 2;
    shift_ = -shift;
  }

  int8_t value(int8_t x) const {
    const int total = 31 - (shift_ + 7);
    const int64_t y = (int64_t{x} * multiplier_ + (int64_t{1} << (total - 1))) >> total;
    return static_cast<int8_t>(std::clamp<int64_t>(y, -128, 127));
  }

 private:
  int32_t multiplier_ = 0;
  int shift_ = 0;
};

// ---- definitions --------------------------------------------------------------------------------

/// Each value x of a row, how often, at x + 128.
using Histogram = std::array<int32_t, 256>;

inline Histogram histogram(std::span<const int8_t> row) {
  Histogram h{};
  for (const int8_t x : row) ++h[static_cast<uint8_t>(x) ^ 128U];
  return h;
}

/// Mean and variance of a row, in steps of its elements.
struct Moments {
  double mean = 0, variance = 0, square = 0;  ///< square: the mean of x^2
};

inline Moments moments(const Histogram& h, size_t length) {
  Moments m;
  const auto n = static_cast<double>(length);
  for (size_t i = 0; i < 256; ++i) m.mean += h[i] * (static_cast<double>(i) - 128) / n;
  for (size_t i = 0; i < 256; ++i) {
    const double x = static_cast<double>(i) - 128, away = x - m.mean;
    m.variance += h[i] * away * away / n;
    m.square += h[i] * x * x / n;
  }
  return m;
}

}  // namespace accsim::test
