#include "hw/golden/row_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "tests/hw/golden/row_definitions.h"
#include "tests/hw/golden/row_trials.h"

namespace accsim::hw {
namespace {

constexpr int32_t kLargest = std::numeric_limits<int32_t>::max();
using test::clipped;
using test::nearest;
using test::random_row;
using test::rounded;
using test::Row;
using test::Wide;

Row norm(const NormConstants& n, const Row& row, const NormChannel& channel) {
  Row out(row.size());
  norm_row(n, row, std::vector{channel}, static_cast<int64_t>(row.size()), out);
  return out;
}

// ---- what all share -----------------------------------------------------------------------------

TEST(RowMath, DoesRoundShiftTakeHalvesAwayFromZero) {
  EXPECT_EQ(round_shift(5, 1), 3);
  EXPECT_EQ(round_shift(-5, 1), -3);
  EXPECT_EQ(round_shift(-7, 2), -2);
  EXPECT_EQ(round_shift(-7, 0), -7);
  const int64_t most = (int64_t{1} << 62) - 1;
  std::mt19937_64 random(1);
  for (int shift = 0; shift <= 62; ++shift) {
    const int64_t half = (int64_t{1} << shift) >> 1;
    for (const int64_t value :
         {int64_t{0}, half, half - 1, most, most - half, static_cast<int64_t>(random() >> 2),
          static_cast<int64_t>(random() >> (1 + shift))}) {
      if (value < 0 || value > most) continue;
      EXPECT_EQ(round_shift(value, shift), rounded(value, shift)) << value << " " << shift;
      EXPECT_EQ(round_shift(-value, shift), rounded(-value, shift)) << value << " " << shift;
    }
  }
}

TEST(RowMath, IsTheReciprocalTheQuotientRoundedDown) {
  std::mt19937 random(2);
  for (int i = 0; i < 100000; ++i) {
    const auto numerator =
        i < 4 ? (i % 2 ? kLargest : 1 << 30) : static_cast<int32_t>(1U << 30 | random() >> 2);
    const uint32_t divisor =
        i < 4 ? (i / 2 ? 0xFFFFFFFFU : 0x80000000U) : static_cast<uint32_t>(1U << 31 | random());
    const int64_t result = row_reciprocal(numerator, divisor);
    ASSERT_LE(Wide{result} * divisor, Wide{numerator} << 31);
    ASSERT_GT(Wide{result + 1} * divisor, Wide{numerator} << 31);
    ASSERT_GE(result, int64_t{1} << 29);
    ASSERT_LE(result, kLargest);
  }
}

TEST(RowMath, IsTheRootTheRealOneRoundedDown) {
  const auto is_root = [](uint64_t value) {
    const Wide root = row_root(value);
    return root * root <= value && (root + 1) * (root + 1) > value;
  };
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t value = random() >> (i % 64), root = random() >> 32;
    ASSERT_TRUE(is_root(value)) << value;
    ASSERT_TRUE(is_root(root * root)) << root;
    ASSERT_TRUE(is_root(root * root - 1)) << root;
  }
  EXPECT_TRUE(is_root(0));
  EXPECT_TRUE(is_root(std::numeric_limits<uint64_t>::max()));
}

TEST(RowMath, IsAFixedScaleTheNearestOne) {
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> exponent(-45, 31);
  for (int i = 0; i < 100000; ++i) {
    const double real = (i % 2 ? 1 : -1) * std::min(std::exp2(exponent(random)), 2147483647.0);
    const FixedScale s = *fixed_scale(real);
    ASSERT_TRUE(s.shift >= 0 && s.shift <= 62);
    ASSERT_LE(std::abs(std::ldexp(real, s.shift) - s.multiplier), 0.5) << real;
    if (s.shift < 62) {
      ASSERT_GE(std::abs(int64_t{s.multiplier}), int64_t{1} << 30) << real;
    }
  }
  // The nearest of 31 bits is 2^31.
  EXPECT_EQ(fixed_scale(1 - 0x1p-40)->multiplier, 1 << 30);
  EXPECT_EQ(fixed_scale(1 - 0x1p-40)->shift, 30);
  EXPECT_EQ(fixed_scale(0)->multiplier, 0);
  EXPECT_FALSE(fixed_scale(0x1p31).ok());
  EXPECT_FALSE(fixed_scale(std::nan("")).ok());
}

TEST(RowMath, HasAFixedScaleTheBitsThatAreAskedFor) {
  std::mt19937 random(5);
  for (int i = 0; i < 2000; ++i) {
    const double real = std::ldexp(std::uniform_real_distribution<double>(-1, 1)(random),
                                   static_cast<int>(random() % 60) - 35);
    const FixedScale s = *fixed_scale(real, 25);
    ASSERT_LE(std::abs(std::ldexp(real, s.shift) - s.multiplier), 0.5) << real;
    ASSERT_LT(std::abs(s.multiplier), 1 << 25) << real;
    ASSERT_TRUE(s.shift == 62 || std::abs(s.multiplier) >= 1 << 24) << real;
  }
  EXPECT_EQ(fixed_scale(1 - 0x1p-40, 25)->multiplier, 1 << 24);  // the nearest of 25 bits is 2^25
  EXPECT_EQ(fixed_scale(1 - 0x1p-40, 25)->shift, 24);
  EXPECT_EQ(fixed_scale(0x1p25 - 1, 25)->shift, 0);
  EXPECT_FALSE(fixed_scale(0x1p25, 25).ok());
}

// ---- normalisation ------------------------------------------------------------------------------

/// Beta; then shift * 2^26 and, modulo 2^26, the multiplier.
TEST(Norm, IsAChannelTwoWords) {
  constexpr int32_t kMost = (1 << 25) - 1;
  for (const int32_t multiplier : {-kMost - 1, -kMost, -1, 0, 1, 12345678, kMost})
    for (const int32_t shift : {0, 1, 31, 32, 61, 62})
      for (const int32_t beta : {INT32_MIN, -1, 0, INT32_MAX}) {
        const int64_t low = (int64_t{multiplier} + (1 << 26)) % (1 << 26);
        const NormWords words = pack_channel({beta, multiplier, shift});
        EXPECT_EQ(words[0], beta);
        EXPECT_EQ(static_cast<uint32_t>(words[1]), shift * (int64_t{1} << 26) + low);
        EXPECT_EQ(unpack_channel(words), (NormChannel{beta, multiplier, shift}));
      }
}

/// gamma is refused from where its multiplier would need a shift below 0.
TEST(Norm, IsTheLargestGammaOfAChannelIn26Bits) {
  for (const int32_t bits : {22, 26, 30}) {
    const double most = std::ldexp(0x1p25 - 1, bits - 20);
    EXPECT_EQ(*norm_channel(most, 0, 1, bits), (NormChannel{0, (1 << 25) - 1, 0}));
    EXPECT_EQ(*norm_channel(-most, 0, 1, bits), (NormChannel{0, 1 - (1 << 25), 0}));
    EXPECT_FALSE(norm_channel(std::ldexp(1, 5 + bits), 0, 1, bits).ok());
  }
}

/// Without epsilon a row of +-a is normalised to +-1 exactly, so to +-gamma + beta.
TEST(Norm, IsARowOfOppositesOne) {
  const NormConstants n{.unit_bits = norm_unit_bits(6), .epsilon = 0, .output_zero = 3};
  const NormChannel c = *norm_channel(2.5, 0.25, 0.25, n.unit_bits);
  EXPECT_EQ(norm(n, {9, -9, 9, -9, 9, -9}, c), (Row{14, -6, 14, -6, 14, -6}));
  EXPECT_EQ(norm(n, {127, -128, 127, -128, 127, -128}, c), (Row{14, -6, 14, -6, 14, -6}));
}

TEST(Norm, IsARowOfEqualElementsBeta) {
  for (const size_t length : {size_t{1}, size_t{3}, size_t{65536}})
    for (const int8_t x : {int8_t{-128}, int8_t{0}, int8_t{127}})
      for (const int64_t epsilon : {int64_t{0}, int64_t{1}, int64_t{1} << 62}) {
        const NormConstants n{.unit_bits = norm_unit_bits(static_cast<int64_t>(length)),
                              .epsilon = epsilon};
        const NormChannel c = *norm_channel(3, -2, 0.125, n.unit_bits);
        EXPECT_EQ(norm(n, Row(length, x), c), Row(length, -16)) << length;
      }
}

/// The longest row with the largest sums: 65536 elements 255 away from zero are -1 each.
TEST(Norm, DoTheLargestSumsStayInTheirWidths) {
  const Row row(kRowElements, -128);
  const NormConstants n{.centred = false, .input_zero = 127};
  const RowSums sums = norm_sums(n, row);
  EXPECT_EQ(sums.sum, -255 * 65536);
  EXPECT_EQ(sums.squares, 65025U * 65536U);
  const NormChannel c = *norm_channel(1, 0, 1.0 / 64, n.unit_bits);
  EXPECT_EQ(norm(n, row, c), Row(row.size(), -64));
  NormConstants centred = n;
  centred.centred = true;
  EXPECT_EQ(norm(centred, row, c), Row(row.size(), 0));
}

/// One element among n - 1 others is sqrt(n - 1) standard deviations away, the others 1/sqrt(n - 1)
/// on the other side: the largest values that there are.
TEST(Norm, IsTheLargestNormalisedValueInItsWidth) {
  for (const int64_t length : {int64_t{2}, int64_t{3}, int64_t{17}, int64_t{4096}, kRowElements}) {
    Row row(static_cast<size_t>(length), -128);
    row.back() = 127;
    const auto others = static_cast<double>(length - 1);
    const NormConstants n{.unit_bits = norm_unit_bits(length)};
    const NormFactor f = norm_factor(n, norm_sums(n, row), length);
    const double one = std::ldexp(1.0, n.unit_bits);
    const int32_t unit = norm_unit(n, f, length, 127);
    EXPECT_NEAR(unit, std::sqrt(others) * one, std::sqrt(others) * one * 0x1p-28 + 0.5);
    EXPECT_LE(unit, 1 << 30);
    EXPECT_NEAR(norm_unit(n, f, length, -128), -one / std::sqrt(others),
                one / std::sqrt(others) * 0x1p-28 + 0.5);
    // Alone and not centred, it is sqrt(n).
    const NormConstants plain{.centred = false, .unit_bits = n.unit_bits};
    Row single(row.size(), 0);
    single[0] = 1;
    const NormFactor g = norm_factor(plain, norm_sums(plain, single), length);
    EXPECT_LE(norm_unit(plain, g, length, 1), 1 << 30);
    EXPECT_NEAR(norm_unit(plain, g, length, 1), std::sqrt(others + 1) * one,
                std::sqrt(others + 1) * one * 0x1p-28 + 0.5);
  }
}

/// The factor is the exact variance's, whatever the sums: 2^14 * (n * squares - sum^2) + epsilon.
TEST(Norm, IsTheFactorTheInverseRootOfTheExactVariance) {
  std::mt19937 random(9);
  for (int round = 0; round < 3000; ++round) {
    const size_t length = 1 + random() % (round % 10 ? 200 : 65536);
    const Row row = random_row(random, length);
    NormConstants n;
    n.centred = random() % 2;
    n.input_zero = static_cast<int8_t>(random());
    n.unit_bits = norm_unit_bits(static_cast<int64_t>(length));
    n.epsilon = static_cast<int64_t>(random()) << (random() % 30);
    Wide sum = 0, squares = 0;
    for (const int x : row) {
      sum += x - n.input_zero;
      squares += (x - n.input_zero) * (x - n.input_zero);
    }
    const Wide variance = static_cast<Wide>(length) * squares - (n.centred ? sum * sum : Wide{0});
    const NormFactor f = norm_factor(n, norm_sums(n, row), static_cast<int64_t>(length));
    // reciprocal / 2^shift is 2^(7 + unit_bits) over the root of this, 2^-28 too small at most.
    const auto wide = static_cast<long double>((variance << 14) + n.epsilon);
    if (variance == 0) continue;
    const long double expected = std::ldexp(1 / std::sqrt(wide), 7 + n.unit_bits);
    const long double got = std::ldexp(static_cast<long double>(f.reciprocal), -f.shift);
    ASSERT_LE(std::abs(got - expected), expected * 0x1p-28L);
    ASSERT_TRUE(f.shift >= 0 && f.shift <= 32);
    ASSERT_TRUE(f.reciprocal >= 1 << 29 && f.reciprocal <= 1 << 30);
  }
}

TEST(Norm, DoGroupsHaveChannelsOfTheirOwn) {
  // Four pixels of each of three channels: InstanceNorm's constants for a group of channels.
  const NormConstants n{.unit_bits = norm_unit_bits(12)};
  std::vector<NormChannel> channels;
  for (const double beta : {1.0, 2.0, 3.0})
    channels.push_back(*norm_channel(0, beta, 0.5, n.unit_bits));
  Row row(12), out(12);
  std::iota(row.begin(), row.end(), int8_t{0});
  norm_row(n, row, channels, 4, out);
  EXPECT_EQ(out, (Row{2, 2, 2, 2, 4, 4, 4, 4, 6, 6, 6, 6}));
}

TEST(Norm, AreLargeChannelsClippedAndImpossibleOnesRefused) {
  const NormConstants n{.unit_bits = norm_unit_bits(2), .low = -100, .high = 90};
  const NormChannel c = *norm_channel(1e6, 0, 1, n.unit_bits);
  EXPECT_EQ(norm(n, {1, -1}, c), (Row{90, -100}));
  EXPECT_FALSE(norm_channel(1, 2049, 1, 22).ok());
  EXPECT_FALSE(norm_channel(0x1p27, 0, 1, 22).ok());
  EXPECT_FALSE(norm_channel(1, 0, 0, 22).ok());
  EXPECT_FALSE(norm_epsilon(1, 1e-6, 65536).ok());
  EXPECT_FALSE(norm_epsilon(-1, 1, 1).ok());
  EXPECT_EQ(*norm_epsilon(1e-5, 0.01, 100), 16384 * 1000);  // 1e-5 * (100 / 0.01)^2 = 1000
}

// ---- tables and reductions ----------------------------------------------------------------------

/// Definitions of another form than the sources', in double.
double by_definition(TableFunction f, double x) {
  const double pi = 3.14159265358979323846;
  switch (f) {
    case TableFunction::gelu:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2)));
    case TableFunction::gelu_tanh:
      return x / (1 + std::exp(-2 * std::sqrt(2 / pi) * (x + 0.044715 * std::pow(x, 3))));
    case TableFunction::silu:
      return x * 0.5 * (1 + std::tanh(x / 2));
    case TableFunction::tanh:
      return 1 - 2 / (std::exp(2 * x) + 1);
    case TableFunction::sigmoid:
      return 0.5 * (1 + std::tanh(x / 2));
    case TableFunction::hard_swish:
      return x <= -3 ? 0 : x >= 3 ? x : (x * x + 3 * x) / 6;
  }
  return std::nan("");
}

TEST(FunctionTable, IsEveryEntryWithinHalfAStep) {
  std::mt19937 random(10);
  std::uniform_real_distribution<double> exponent(-7, 1);
  for (const auto f : {TableFunction::gelu, TableFunction::gelu_tanh, TableFunction::silu,
                       TableFunction::tanh, TableFunction::sigmoid, TableFunction::hard_swish})
    for (int round = 0; round < 200; ++round) {
      const ElementScale in{std::exp(exponent(random)), static_cast<int8_t>(random())};
      const ElementScale out{std::exp(exponent(random)), static_cast<int8_t>(random())};
      const auto table = function_table(f, in, out);
      for (int x = -128; x < 128; ++x) {
        const double real = by_definition(f, in.scale * (x - in.zero)) / out.scale + out.zero;
        ASSERT_LE(std::abs(table[static_cast<uint8_t>(x)] - std::clamp(real, -128.0, 127.0)),
                  0.5 + 1e-9)
            << static_cast<int>(f) << " " << x;
      }
    }
}

/// hard_swish(q / 2) is q * (q + 6) / 24 between -3 and 3: in quarters, halves are met exactly.
TEST(FunctionTable, DoHalvesGoAwayFromTheZeroPoint) {
  const auto table = function_table(TableFunction::hard_swish, {0.5, 10}, {0.25, -20});
  for (int q = -6; q <= 6; ++q)
    EXPECT_EQ(table[static_cast<uint8_t>(q + 10)], nearest(int64_t{q} * (q + 6), 6) - 20) << q;
}

/// What a mean must be, for every length and the sums on both sides of every kind of boundary.
TEST(RowReductions, IsTheMeanExactForEveryLength) {
  for (int64_t n = 1; n <= kRowElements; ++n) {
    const FixedScale s = mean_scale(n);
    ASSERT_TRUE(s.shift <= 62 && s.multiplier > 0);
    for (const int64_t whole : {0, 1, 77, 127, 254})
      for (const int64_t sum : {whole * n, whole * n + n / 2, whole * n + (n + 1) / 2,
                                whole * n + n / 2 - 1, whole * n + n / 2 + 1, whole * n + n - 1}) {
        ASSERT_EQ(round_shift(sum * s.multiplier, s.shift), nearest(sum, n)) << sum << " " << n;
        ASSERT_EQ(round_shift(-sum * s.multiplier, s.shift), nearest(-sum, n)) << sum << " " << n;
      }
  }
}

TEST(RowReductions, AreSumsAndMeansOfRowsRounded) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const Row row = random_row(random, 1 + random() % 3000);
    const auto n = static_cast<int64_t>(row.size());
    const int32_t zero = static_cast<int8_t>(random());
    const int64_t sum = std::accumulate(row.begin(), row.end(), int64_t{0}) - n * zero;
    EXPECT_EQ(reduce_row({mean_scale(n), zero, 3}, row), clipped(nearest(sum, n) + 3));
    // A sum in steps of 64.
    EXPECT_EQ(reduce_row({*fixed_scale(1.0 / 64), zero, 0}, row), clipped(nearest(sum, 64)));
  }
  EXPECT_EQ(reduce_row({mean_scale(65536), 127, 0}, Row(65536, -128)), -128);
  EXPECT_EQ(reduce_row({*fixed_scale(2147483647), 127, 0}, Row(65536, -128)), -128);
}

// ---- all of them, at random ---------------------------------------------------------------------

TEST(RowMath, AreRandomRowsWithinTheirBoundsAndNoWorseThanTensorFlowLite) {
  test::RowTrials trials(1);
  trials.run(20000);
  EXPECT_LE(trials.softmax.worst_share, 1);
  EXPECT_LE(trials.long_softmax.worst_share, 1);
  EXPECT_LE(trials.masked.worst_share, 1);
  EXPECT_LE(trials.layer_norm.worst_share, 1);
  EXPECT_LE(trials.rms_norm.worst_share, 1);
  EXPECT_LE(trials.l2.worst_share, 1);
  EXPECT_LE(trials.average.worst_share, 1);
  EXPECT_LE(trials.softmax.max, trials.lite_softmax.max);
  EXPECT_LE(trials.softmax.mean(), trials.lite_softmax.mean());
  constexpr double kLoss = test::RowTrials::kMultiplierLoss;
  EXPECT_LE(trials.l2.max, trials.lite_l2.max + kLoss);
  EXPECT_LE(trials.l2.mean(), trials.lite_l2.mean() + kLoss);
  EXPECT_EQ(trials.softmax.elements, trials.lite_softmax.elements);
  EXPECT_EQ(trials.l2.elements, trials.lite_l2.elements);
  EXPECT_GT(trials.softmax.elements, 1'000'000);
}

TEST(RowMath, AreTheLongestRowsWithinTheirBounds) {
  test::RowTrials trials(2);
  trials.run_longest(40);
  EXPECT_LE(trials.long_softmax.worst_share, 1);
  EXPECT_LE(trials.masked.worst_share, 1);
  EXPECT_LE(trials.l2.worst_share, 1);
  EXPECT_LE(trials.average.worst_share, 1);
  EXPECT_EQ(trials.long_softmax.elements, 40 * kRowElements);
}

}  // namespace
}  // namespace accsim::hw
