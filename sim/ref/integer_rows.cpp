#include "sim/ref/integer_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/ref/integer_arithmetic.h"

namespace accsim::sim::ref {
namespace {

using sim::RowKind;

/// floor(c * 2^31 / d).
int64_t scaled_reciprocal(int64_t c, uint64_t d) {
  return static_cast<int64_t>((static_cast<uint64_t>(c) << 31) / d);
}

/// floor(sqrt(v)), bit by bit from the highest on.
uint64_t integer_root(uint64_t v) {
  uint64_t r = 0;
  for (int bit = 31; bit >= 0; --bit) {
    const uint64_t more = r | uint64_t{1} << bit;
    if (more * more <= v) r = more;
  }
  return r;
}

class RowPlaces {
 public:
  explicit RowPlaces(const IntegerRows& p) : p_(p), work_(p.work), out_(p.in.begin(), p.in.end()) {}

  RowResults compute_all() {
    walk_level(0, 0, 0, 0);
    return {std::move(out_), std::move(logarithms_)};
  }

 private:
  void walk_level(size_t l, int64_t row, int64_t mask, int64_t channel) {
    if (l == sim::kRowLevels) {
      row_ = row;
      mask_ = mask;
      channel_ = channel;
      if (work_.kind == RowKind::softmax)
        compute_softmax();
      else
        compute_norm();
      return;
    }
    for (int64_t i = 0; i < work_.rows[l]; ++i)
      walk_level(l + 1, row + i * work_.row_stride[l],
                 mask + (work_.mask ? i * work_.mask->row_stride[l] : 0),
                 channel + i * work_.channel_stride[l]);
  }

  /// Calls visit(piece, element of it, index in the input) for the row's elements, in order.
  template <class Visit>
  void each_in_row(const Visit& visit) const {
    for (int64_t piece = 0; piece < work_.pieces; ++piece)
      for (int64_t e = 0; e < work_.run; ++e)
        visit(piece, e, static_cast<size_t>(row_ + piece * work_.piece_stride + e));
  }

  // ---- softmax ----------------------------------------------------------------------------------

  int64_t logit_at(int64_t piece, int64_t e, size_t i) const {
    const IntegerSoftmax& s = p_.softmax;
    int64_t u = int64_t{s.a} * p_.in[i];
    if (work_.mask)
      u +=
          int64_t{s.b} * p_.mask[static_cast<size_t>(mask_ + piece * work_.mask->piece_stride + e)];
    return u;
  }

  int64_t exponential_term(int64_t below) const {
    const IntegerSoftmax& s = p_.softmax;
    const int64_t d = std::min<int64_t>((below + (int64_t{1} << s.q) / 2) >> s.q, 4096);
    if (d == 4096) return 0;
    const int64_t product =
        int64_t{s.coarse[static_cast<size_t>(d >> 6)]} * s.fine[static_cast<size_t>(d & 63)];
    return (product + (int64_t{1} << 29)) >> 30;
  }

  void compute_softmax() {
    int64_t most = INT64_MIN, sum = 0;
    each_in_row([&](int64_t p, int64_t e, size_t i) { most = std::max(most, logit_at(p, e, i)); });
    each_in_row(
        [&](int64_t p, int64_t e, size_t i) { sum += exponential_term(most - logit_at(p, e, i)); });
    const auto width = static_cast<int32_t>(std::bit_width(static_cast<uint64_t>(sum)));
    const auto d = static_cast<uint64_t>(width == 31 ? sum << 1 : sum >> (width - 32));
    const int64_t r = scaled_reciprocal(p_.softmax.c, d);
    const int32_t f = std::min(29 + width - p_.softmax.k, 62);
    each_in_row([&](int64_t p, int64_t e, size_t i) {
      const int64_t y =
          rounded_shift(exponential_term(most - logit_at(p, e, i)) * r, f) + p_.out_zero;
      out_[i] = static_cast<int8_t>(clamp_int32(y, INT8_MIN, INT8_MAX));
    });
    if (work_.log) logarithms_.push_back(logarithm_of(most, d, width));
  }

  /// Of a row whose sum has the width and these first 32 bits.
  int8_t logarithm_of(int64_t most, uint64_t first, int32_t width) const {
    const auto power = [](uint64_t j) {
      return std::llround(65536 * std::log2(1 + static_cast<double>(j) / 64));
    };
    const uint64_t j = (first >> 25) - 64, rest = first >> 15 & 1023;
    const int64_t line = (power(j + 1) - power(j)) * static_cast<int64_t>(rest);
    const int64_t log2 = int64_t{width - 31} * 65536 + power(j) + rounded_shift(line, 10);
    const IntegerLogarithm& l = p_.logarithm;
    const int64_t y = rounded_shift(most * l.row + log2 * l.sum + l.addend, l.shift);
    return static_cast<int8_t>(clamp_int32(y, INT8_MIN, INT8_MAX));
  }

  // ---- normalisation ----------------------------------------------------------------------------

  void compute_norm() {
    const IntegerNorm& c = p_.norm;
    const int64_t n = work_.row_length();
    int64_t s1 = 0, s2 = 0;
    each_in_row([&](int64_t, int64_t, size_t i) {
      const int64_t v = p_.in[i] - c.in_zero;
      s1 += v;
      s2 += v * v;
    });
    const int64_t f = work_.kind == RowKind::layer_norm ? s1 : 0;
    const int64_t v = n * s2 - f * f;
    const auto w = static_cast<uint64_t>(std::max<int64_t>((v << 14) + c.epsilon, 1));
    const int32_t j = std::countl_zero(w) / 2;
    const int64_t r = scaled_reciprocal(int64_t{1} << 30, integer_root(w << (2 * j)));
    int32_t log = 0;
    while (int64_t{1} << log < n) ++log;
    const int32_t g = 30 - (log + 1) / 2;
    const int32_t shift = std::max(54 - g - j, 0);
    each_in_row([&](int64_t, int64_t e, size_t i) {
      const int64_t t = rounded_shift((n * (p_.in[i] - c.in_zero) - f) * r, shift);
      const IntegerNorm::Channel& of =
          c.channels[static_cast<size_t>(channel_ + e / work_.per_channel)];
      const int64_t scaled = rounded_shift(t * of.multiplier, of.shift) + of.beta;
      out_[i] =
          static_cast<int8_t>(clamp_int32(rounded_shift(scaled, 20) + p_.out_zero, c.low, c.high));
    });
  }

  const IntegerRows& p_;
  const sim::RowWork& work_;
  int64_t row_ = 0, mask_ = 0, channel_ = 0;  ///< of the row: its first element and channel
  std::vector<int8_t> out_, logarithms_;
};

}  // namespace

RowResults integer_rows(const IntegerRows& p) { return RowPlaces(p).compute_all(); }

}  // namespace accsim::sim::ref
