#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "hw/golden/row_math.h"
#include "tests/hw/golden/row_definitions.h"
#include "tests/hw/golden/row_trials.h"

namespace accsim::hw {
namespace {

using test::clipped;
using test::nearest;
using test::random_row;
using test::Row;
using test::Wide;

Row softmax(const SoftmaxTables& t, const Row& row, const Row& mask = {}) {
  Row out(row.size());
  softmax_row(t, row, mask, out);
  return out;
}

TEST(Softmax, AreTheTermsWithinOneAndAHalfOfTheExponential) {
  for (const double scale : {1e-6, 0.003, 0.05, 0.3, 2.0, 1000.0}) {
    const SoftmaxTables t = *softmax_tables({.input = scale});
    EXPECT_EQ(softmax_term(t, 0), 1 << 30);
    for (int32_t d = 0; d < kSoftmaxGone; ++d) {
      const long double real = std::exp(-static_cast<long double>(scale) * d) * (1 << 30);
      ASSERT_LE(std::abs(softmax_term(t, d) - real), 1.5L + 1e-6L) << scale << " " << d;
    }
    EXPECT_EQ(softmax_term(t, kSoftmaxGone), 0);
  }
}

/// Of equal elements each is 1 / n, whatever the scale: round(256 / n).
TEST(Softmax, AreEqualElementsEqualShares) {
  const SoftmaxTables t = *softmax_tables({.input = 0.17});
  for (int64_t n = 1; n <= kRowElements; n += 1 + n / 3)
    for (const int8_t x : {int8_t{-128}, int8_t{5}, int8_t{127}}) {
      const Row out = softmax(t, Row(static_cast<size_t>(n), x));
      ASSERT_EQ(out.front(), clipped(nearest(256, n) - 128)) << n;
      ASSERT_EQ(out.back(), out.front());
    }
  // Half a step is one.
  EXPECT_EQ(softmax(t, Row(512, 3)).front(), -127);
  EXPECT_EQ(softmax(t, Row(513, 3)).front(), -128);
}

TEST(Softmax, DoesTheLongestRowStayInItsWidths) {
  for (const double output : {0x1p-16, 1.0 / 256, 1.0})
    for (const double input : {1e-9, 0.1, 300.0}) {
      const SoftmaxTables t = *softmax_tables({.input = input, .output = {output, 0}});
      Row row(kRowElements, 127);
      const Row same = softmax(t, row);
      const double share = 1 / (kRowElements * output);
      EXPECT_NEAR(same[7], std::min(share, 127.0), 0.53) << output;
      std::fill(row.begin() + 1, row.end(), int8_t{-128});
      const double one = 1 / (1 + (kRowElements - 1) * std::exp(-255 * input)) / output;
      EXPECT_NEAR(softmax(t, row)[0], std::min(one, 127.0), 0.5 + one * 1e-4 + 1e-6) << input;
    }
}

TEST(Softmax, IsARowsSumTheSameInAnyOrder) {
  std::mt19937 random(5);
  const SoftmaxTables t = *softmax_tables({.input = 0.03});
  Row row = random_row(random, 1000);
  Row out = softmax(t, row);
  std::reverse(row.begin(), row.end());
  std::reverse(out.begin(), out.end());
  EXPECT_EQ(softmax(t, row), out);
  softmax_row(t, row, {}, row);  // in place
  EXPECT_EQ(row, out);
}

/// A mask of 0 and -128 nats: what is kept is as near to its real share as in a row without the
/// rest, and the rest is 0.
TEST(Softmax, IsAMaskOfTwoValuesExact) {
  std::mt19937 random(6);
  for (const double scale : {0.006, 0.02, 0.25, 4.0}) {
    const SoftmaxTables t = *softmax_tables({.input = scale, .mask = 1});
    for (int round = 0; round < 200; ++round) {
      Row row = random_row(random, 1 + random() % 300), mask(row.size(), 0);
      double sum = 0;
      for (size_t i = 0; i < row.size(); ++i) {
        if (i > 0 && random() % 2) mask[i] = -128;
        // 128 nats are less than the row's own range can be.
        if (mask[i] != 0 && scale > 0.4) row[i] = -128;
        if (mask[i] == 0) sum += std::exp(scale * row[i]);
      }
      const Row out = softmax(t, row, mask);
      for (size_t i = 0; i < row.size(); ++i) {
        const double real = mask[i] == 0 ? 256 * std::exp(scale * row[i]) / sum : 0;
        ASSERT_LE(std::abs(out[i] - std::min(real - 128, 127.0)),
                  test::RowTrials::softmax_bound(row.size(), 256))
            << scale;
      }
    }
  }
}

/// log2 of every kind of sum, against the C library's.
TEST(Softmax, IsALogarithmWithinSevenHundredThousandths) {
  std::mt19937_64 random(9);
  const int64_t one = int64_t{1} << 30;
  for (int i = 0; i < 100000; ++i) {
    const int64_t sum = i == 0   ? one
                        : i == 1 ? one << 16
                                 : one + static_cast<int64_t>(random() % (one << random() % 16));
    const double real = std::log2(static_cast<double>(sum) / static_cast<double>(one));
    ASSERT_NEAR(row_log2(sum) / 65536.0 * std::log(2), real * std::log(2), 7e-5) << sum;
  }
}

TEST(Softmax, HasTheLogarithmOfItsSum) {
  std::mt19937 random(10);
  for (const double input : {0.01, 0.06, 0.3})
    for (const double mask : {0.0, 0.05, 1.0})
      for (const double scale : {0.02, 0.05, 0.2}) {
        const SoftmaxScales scales{.input = input, .mask = mask, .output = {}};
        const SoftmaxTables t = *softmax_tables(scales);
        const int32_t zero = static_cast<int32_t>(random() % 100) - 50;
        const RowLogarithm l = *softmax_log(scales, {scale, zero});
        for (int round = 0; round < 50; ++round) {
          const Row row = random_row(random, 1 + random() % 300);
          const Row masks = mask > 0 ? random_row(random, row.size()) : Row();
          double sum = 0;
          for (size_t i = 0; i < row.size(); ++i)
            sum += std::exp(input * row[i] + (masks.empty() ? 0 : mask * masks[i]));
          Row out(row.size());
          const int8_t y = softmax_log_value(l, softmax_row(t, row, masks, out));
          const double real = std::clamp(std::log(sum) / scale + zero, -128.0, 127.0);
          // docs/vector-arithmetic.md; with a mask differences are off by half a unit, which is
          // less than twice a 4094th of the reach, and by what the multipliers lose of 255 steps.
          const double off = mask > 0 ? 22.5 / 4094 : 0;
          ASSERT_NEAR(y, real, 0.5 + (1.7e-4 + off) / scale + 0.01) << input << " " << mask;
        }
      }
}

TEST(Softmax, IsAnErrorALogarithmThatNoMultiplierHolds) {
  const SoftmaxScales scales{.input = 0.05, .output = {}};
  EXPECT_FALSE(softmax_log(scales, {1e-12, 0}).ok());
  EXPECT_FALSE(softmax_log(scales, {0, 0}).ok());
  EXPECT_FALSE(softmax_log({.input = 0, .output = {}}, {1, 0}).ok());
  const RowLogarithm l = *softmax_log(scales, {1e9, -128});
  EXPECT_EQ(l.shift, 50);
  EXPECT_EQ(l.addend, -(int64_t{128} << 50));
}

TEST(Softmax, IsARowOfMaskedElementsOneWithoutMask) {
  std::mt19937 random(7);
  const Row row = random_row(random, 77);
  const SoftmaxTables t = *softmax_tables({.input = 0.05, .mask = 2});
  EXPECT_EQ(softmax(t, row, Row(77, -128)), softmax(t, row, Row(77, 0)));
  EXPECT_EQ(softmax(t, row, Row(77, 0)), softmax(t, row));
}

TEST(Softmax, AreTheMultipliersInTheirWidths) {
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> exponent(-20, 7);
  for (int i = 0; i < 20000; ++i) {
    const double input = std::exp2(exponent(random)), mask = std::exp2(exponent(random));
    const auto t = softmax_tables({.input = input, .mask = mask});
    ASSERT_TRUE(t.ok()) << input << " " << mask;
    ASSERT_TRUE(t->row_multiplier >= 0 && t->row_multiplier <= 65535);
    ASSERT_TRUE(t->mask_multiplier >= 0 && t->mask_multiplier <= 65535);
    const int32_t widest =
        softmax_difference(*t, softmax_logit(*t, 127, 127), softmax_logit(*t, -128, -128));
    // A unit is a 4094th of 22.5 nats at least, and less than twice that.
    const double nats = 255 * (input + mask);
    if (nats < 22.4) {
      ASSERT_LT(widest, kSoftmaxGone) << input << " " << mask;
    }
    if (nats > 45.5) {
      ASSERT_EQ(widest, kSoftmaxGone) << input << " " << mask;
    }
  }
}

TEST(Softmax, IsADifferenceRoundedToUnits) {
  std::mt19937 random(12);
  const SoftmaxTables t = *softmax_tables({.input = 0.02, .mask = 0.07});
  ASSERT_GT(t.difference_shift, 0);
  const int32_t unit = 1 << t.difference_shift;
  EXPECT_EQ(softmax_difference(t, 0, -unit / 2), 1);
  EXPECT_EQ(softmax_difference(t, 0, -unit / 2 + 1), 0);
  for (int i = 0; i < 10000; ++i) {
    const auto maximum = static_cast<int32_t>(random() % 65536);
    const auto away = static_cast<int32_t>(random() >> 7);
    ASSERT_EQ(softmax_difference(t, maximum, maximum - away),
              std::min<int64_t>(nearest(away, unit), kSoftmaxGone));
  }
}

/// Step 3 of docs/vector-arithmetic.md, by its formulas.
TEST(Softmax, IsTheFactorWhatItsStepSays) {
  std::mt19937_64 random(13);
  for (const double output : {0x1p-16, 1.0 / 256, 0.0031, 1.0})
    for (int round = 0; round < 1000; ++round) {
      const SoftmaxTables t = *softmax_tables({.input = 0.01, .output = {output, 0}});
      const int64_t most = int64_t{1} << 46;
      const int64_t sum =
          round == 0 ? most : (1 << 30) + static_cast<int64_t>((random() % most) >> random() % 40);
      if (sum > most) continue;
      int width = 0;
      while (sum >> width != 0) ++width;
      const Wide divisor = (Wide{sum} << 32) >> width,
                 reciprocal = (Wide{t.numerator} << 31) / divisor;
      const SoftmaxFactor f = softmax_factor(t, sum);
      ASSERT_EQ(f.shift, std::min(29 + width - t.exponent, 62));
      ASSERT_EQ(f.reciprocal, reciprocal) << sum;
    }
}

TEST(Softmax, IsTheOutputsScaleItsNumeratorAndExponent) {
  std::mt19937_64 random(14);
  std::uniform_real_distribution<double> exponent(-16, 0);
  for (int i = 0; i < 10000; ++i) {
    // Just above a power of two, its inverse is just below one.
    const double output =
        i % 4 == 0 ? std::exp2(-1 - i % 16) * (1 + 0x1p-45) : std::exp2(exponent(random));
    const SoftmaxTables t = *softmax_tables({.input = 1, .output = {output, 0}});
    ASSERT_GE(t.numerator, 1 << 30);
    ASSERT_TRUE(t.exponent >= 0 && t.exponent <= 16);
    ASSERT_NEAR(std::ldexp(t.numerator, t.exponent - 30) * output, 1, 0x1p-31) << output;
  }
}

TEST(Softmax, AreImpossibleScalesRefused) {
  EXPECT_FALSE(softmax_tables({.input = 0}).ok());
  EXPECT_FALSE(softmax_tables({.input = -1}).ok());
  EXPECT_FALSE(softmax_tables({.input = std::nan("")}).ok());
  EXPECT_FALSE(softmax_tables({.input = 1, .mask = 365}).ok());
  EXPECT_TRUE(softmax_tables({.input = 1, .mask = 359}).ok());
  EXPECT_FALSE(softmax_tables({.input = 1, .output = {1.5, 0}}).ok());
  EXPECT_FALSE(softmax_tables({.input = 1, .output = {0x1p-17, 0}}).ok());
  EXPECT_TRUE(softmax_tables({.input = 1, .output = {0x1p-16, 0}}).ok());
}

}  // namespace
}  // namespace accsim::hw
