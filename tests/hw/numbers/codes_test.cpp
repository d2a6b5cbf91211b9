#include "hw/numbers/codes.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace accsim::hw {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

uint64_t code_count(const NumberFormat& f) { return uint64_t{1} << f.bits; }

bool has_value(double found, double wanted) {
  if (std::isnan(wanted)) return std::isnan(found);
  return found == wanted && std::signbit(found) == std::signbit(wanted);
}

/// A float of 16 bits or fewer, from the definition alone: its fields as powers and fractions.
double by_definition(const NumberFormat& f, uint64_t code) {
  const uint64_t m = code % (uint64_t{1} << f.mantissa);
  const auto e = static_cast<int>((code >> f.mantissa) % (uint64_t{1} << f.exponent));
  const double sign = f.kind == NumberKind::real && (code >> (f.bits - 1)) != 0 ? -1 : 1;
  const double fraction = static_cast<double>(m) / std::pow(2.0, f.mantissa);
  if (f.kind == NumberKind::power) return code == 0xFF ? kNan : std::pow(2.0, e - f.bias);
  if (f.specials == Specials::ieee && e == (1 << f.exponent) - 1)
    return m != 0 ? kNan : sign * kInf;
  if (f.specials == Specials::one_nan && (code & 0x7F) == 0x7F) return kNan;
  if (f.specials == Specials::nan_for_minus_zero && code == 0x80) return kNan;
  return sign * (e == 0 ? fraction * std::pow(2.0, 1 - f.bias)
                        : (1 + fraction) * std::pow(2.0, e - f.bias));
}

TEST(Codes, AreEveryFloatsOf16BitsAndFewerWhatTheirDefinitionSays) {
  for (const NumberFormat& f : kNumberFormats) {
    if (f.is_integer() || f.bits > 16) continue;
    for (uint64_t code = 0; code < code_count(f); ++code)
      ASSERT_TRUE(has_value(decode_real(f, code), by_definition(f, code))) << f.name << " " << code;
  }
}

TEST(Codes, AreTheProcessorsFloatsTheirBits) {
  const NumberFormat& single = number_format(FormatId::float32);
  const NumberFormat& twice = number_format(FormatId::float64);
  uint64_t random = 1;
  for (int i = 0; i < 100'000; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    const auto bits = static_cast<uint32_t>(random >> 32);
    const auto wanted = static_cast<double>(std::bit_cast<float>(bits));
    ASSERT_TRUE(has_value(decode_real(single, bits), wanted)) << bits;
    ASSERT_TRUE(has_value(decode_real(twice, random), std::bit_cast<double>(random))) << random;
  }
  for (const double v : {0.0, -0.0, kInf, -kInf, 0x1p-1074, -0x1p-1022, 0x1.FFFFFFFFFFFFFp1023})
    EXPECT_TRUE(has_value(decode_real(twice, std::bit_cast<uint64_t>(v)), v)) << v;
}

TEST(Codes, OfIntegersAreTwosComplementOrBinary) {
  for (const NumberFormat& f : kNumberFormats) {
    if (f.is_float() || f.bits > 16) continue;
    const auto count = static_cast<int64_t>(code_count(f));
    for (int64_t code = 0; code < count; ++code)
      ASSERT_EQ(decode_integer(f, static_cast<uint64_t>(code)),
                f.has_sign() && code >= count / 2 ? code - count : code);
  }
  const uint64_t all = ~uint64_t{0};
  EXPECT_EQ(decode_integer(number_format(FormatId::int64), all), -1);
  EXPECT_EQ(decode_integer(number_format(FormatId::uint64), all), -1);  // its bit pattern
}

/// The nearest of all numbers of the format; of two, the one of even code.
double nearest(const NumberFormat& f, double v) {
  double best = 0;
  uint64_t best_code = 0;
  for (uint64_t code = 0; code < code_count(f); ++code) {
    const double number = decode_real(f, code);
    if (!std::isfinite(number) || std::signbit(number) != std::signbit(v)) continue;
    const double now = std::abs(v - number), before = std::abs(v - best);
    if (now < before || (now == before && code % 2 == 0 && best_code % 2 == 1))
      best = number, best_code = code;
  }
  return best == 0 ? std::copysign(0.0, v) : best;
}

TEST(Rounding, TakesTheNearestNumberOfEveryNarrowFormatAndEvenOnTies) {
  for (const NumberFormat& f : kNumberFormats) {
    if (f.kind != NumberKind::real || f.bits > 8) continue;
    std::vector<double> numbers;
    for (uint64_t code = 0; code < code_count(f) / 2; ++code)
      if (std::isfinite(decode_real(f, code))) numbers.push_back(decode_real(f, code));
    for (size_t i = 0; i + 1 < numbers.size(); ++i)
      for (const double part : {0.0, 0.25, 0.5, 0.75})
        for (const double sign : {-1.0, 1.0}) {
          const double v = sign * (numbers[i] + part * (numbers[i + 1] - numbers[i]));
          double wanted = nearest(f, v);
          if (wanted == 0 && f.specials == Specials::nan_for_minus_zero) wanted = std::abs(wanted);
          ASSERT_TRUE(has_value(round_real(f, v, Beyond::saturates), wanted)) << f.name << " " << v;
        }
  }
}

TEST(Rounding, IsTheProcessorsForFloat32) {
  const NumberFormat& f = number_format(FormatId::float32);
  uint64_t random = 7;
  for (int i = 0; i < 100'000; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    const auto v = std::bit_cast<double>(random);
    const double near =
        std::ldexp(std::bit_cast<double>(random >> 12 | 0x3FFULL << 52), i % 300 - 150);
    for (const double x : {v, near})
      ASSERT_TRUE(has_value(round_real(f, x, Beyond::overflows),
                            static_cast<double>(static_cast<float>(x))))
          << x;
  }
}

TEST(Rounding, OfWhatIsBeyondTheHighestIsAsTheFormatHasIt) {
  const auto rounded = [](FormatId id, double v, Beyond beyond) {
    return round_real(number_format(id), v, beyond);
  };
  // Half a step above the highest and less is rounded down to it.
  EXPECT_EQ(rounded(FormatId::float8e4m3fn, 463, Beyond::overflows), 448);
  EXPECT_TRUE(std::isnan(rounded(FormatId::float8e4m3fn, 480, Beyond::overflows)));
  EXPECT_EQ(rounded(FormatId::float8e4m3fn, -480, Beyond::saturates), -448);
  EXPECT_EQ(rounded(FormatId::float8e5m2, -61440, Beyond::overflows), -kInf);
  EXPECT_EQ(rounded(FormatId::float8e5m2, kInf, Beyond::saturates), 57344);
  EXPECT_TRUE(std::isnan(rounded(FormatId::float8e5m2fnuz, kInf, Beyond::overflows)));
  EXPECT_EQ(rounded(FormatId::float16, 65519, Beyond::overflows), 65504);
  EXPECT_EQ(rounded(FormatId::float16, 65520, Beyond::overflows), kInf);
  for (const Beyond beyond : {Beyond::saturates, Beyond::overflows}) {
    EXPECT_EQ(rounded(FormatId::float4e2m1, -kInf, beyond), -6);
    EXPECT_EQ(rounded(FormatId::float6e2m3, kNan, beyond), 7.5);
    EXPECT_TRUE(std::isnan(rounded(FormatId::bfloat16, kNan, beyond)));
  }
}

}  // namespace
}  // namespace accsim::hw
