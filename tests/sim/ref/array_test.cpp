#include "sim/ref/array.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/ref/npy.h"

namespace accsim::sim::ref {
namespace {

Array floats(const std::vector<float>& values, DType dtype = DType::float32) {
  Array a(dtype, {static_cast<int64_t>(values.size())});
  std::ranges::copy(values, a.data<float>());
  return a;
}

TEST(MemoryCount, DoesThePeakOutliveTheArrays) {
  const auto count = std::make_shared<MemoryCount>();
  {
    const Array a(DType::float32, {10}, count);
    const Array view = a.reshaped({2, 5});
    EXPECT_EQ(count->held_bytes(), 40);
    const Array b(DType::int64, {3}, count);
    EXPECT_EQ(count->held_bytes(), 64);
  }
  EXPECT_EQ(count->held_bytes(), 0);
  EXPECT_EQ(count->peak_bytes(), 64);
}

TEST(RoundElement, AreTheLimitsOfNarrowFloatsKept) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(round_element(DType::float16, 65504), 65504);
  EXPECT_EQ(round_element(DType::float16, 70000), kInf);
  EXPECT_EQ(round_element(DType::bfloat16, 1.00390625), 1);         // half a step: to even
  EXPECT_EQ(round_element(DType::bfloat16, 1.01171875), 1.015625);  // 1 + 1.5 / 128: to even
  EXPECT_EQ(round_element(DType::float8e4m3fn, 1000), 448);
  EXPECT_TRUE(std::isnan(round_element(DType::float8e4m3fn, 1000, false)));
  EXPECT_EQ(round_element(DType::float8e4m3fn, 464), 448);  // half way to 480: to even
  EXPECT_EQ(round_element(DType::float8e5m2, 1e6), 57344);
  EXPECT_EQ(round_element(DType::float8e5m2, 1e6, false), kInf);
  EXPECT_EQ(round_element(DType::float4e2m1, 2.5), 2);
  EXPECT_EQ(round_element(DType::float4e2m1, 100), 6);
  // By onnx.ai's table of float6: 25 is 7.5 and 24, infinity the largest, ties are to even.
  EXPECT_EQ(round_element(DType::float6e2m3, 25), 7.5);
  EXPECT_EQ(round_element(DType::float6e3m2, 25), 24);
  EXPECT_EQ(round_element(DType::float6e3m2, HUGE_VAL), 28);
  EXPECT_EQ(round_element(DType::float6e2m3, 0.125 / 2), 0);
  EXPECT_EQ(round_element(DType::float6e2m3, 0.125 * 1.5), 0.25);
  EXPECT_EQ(round_element(DType::float6e3m2, -0.0625), -0.0625);
  EXPECT_TRUE(std::signbit(round_element(DType::float6e2m3, -0.0)));
}

/// A number by its sign-less bits, IEEE's format with so many bits of mantissa and exponent bias.
double value(int bits, int mantissa_bits, int bias) {
  const int exponent = bits >> mantissa_bits, mantissa = bits & ((1 << mantissa_bits) - 1);
  return exponent == 0
             ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
             : std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

/// Every number of a type, every tie between neighbours, and the floats beside each tie.
void expect_nearest(DType dtype, int mantissa_bits, int bias, int infinity) {
  std::vector<float> in;
  std::vector<double> out;
  const auto add = [&](double v, double expected) {
    for (const double sign : {1.0, -1.0}) {
      in.push_back(static_cast<float>(sign * v));
      out.push_back(sign * expected);
    }
  };
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (int bits = 0; bits < infinity; ++bits) {
    const double low = value(bits, mantissa_bits, bias),
                 next = value(bits + 1, mantissa_bits, bias);
    const double high = bits + 1 == infinity ? static_cast<double>(kInf) : next;
    const auto tie = static_cast<float>((low + next) / 2);
    add(low, low);
    add(static_cast<double>(tie), bits % 2 == 0 ? low : high);
    add(static_cast<double>(std::nextafter(tie, 0.0F)), low);
    add(static_cast<double>(std::nextafter(tie, kInf)), high);
  }
  add(static_cast<double>(kInf), static_cast<double>(kInf));
  Array array = floats(in, dtype);
  round_elements(array);
  const float* got = array.data<float>();
  for (size_t i = 0; i < in.size(); ++i) {
    ASSERT_EQ(static_cast<double>(got[i]), out[i]) << in[i];
    ASSERT_EQ(std::signbit(got[i]), std::signbit(in[i])) << in[i];
    ASSERT_EQ(round_element(dtype, static_cast<double>(in[i])), out[i]) << in[i];
  }
}

TEST(RoundElements, IsEveryHalfKeptAndEveryTieEven) {
  expect_nearest(DType::float16, 10, 15, 0x7C00);
}
TEST(RoundElements, IsEveryBrainFloatKeptAndEveryTieEven) {
  expect_nearest(DType::bfloat16, 7, 127, 0x7F80);
}
TEST(RoundElements, IsANanLeftAlone) {
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    Array array = floats({std::nanf("1"), -std::nanf("")}, dtype);
    round_elements(array);
    EXPECT_TRUE(std::isnan(array.data<float>()[0]));
    EXPECT_TRUE(std::isnan(array.data<float>()[1]) && std::signbit(array.data<float>()[1]));
  }
}

TEST(RoundPower, DoesEachModeTakeItsNeighbour) {
  using enum PowerRounding;
  constexpr double kLeast = 0x1p-127, kMost = 0x1p127;
  for (const PowerRounding mode : {up, down, nearest}) EXPECT_EQ(round_power(8, mode, true), 8);
  EXPECT_EQ(round_power(8.1, up, true), 16);
  EXPECT_EQ(round_power(15.9, down, true), 8);
  EXPECT_EQ(round_power(11.9, nearest, true), 8);
  EXPECT_EQ(round_power(12, nearest, true), 16);
  EXPECT_EQ(round_power(0, up, true), kLeast);
  EXPECT_EQ(round_power(1.5 * kMost, up, true), kMost);
  EXPECT_EQ(round_power(std::numeric_limits<double>::infinity(), up, true), kMost);
  for (const double v : {0.0, 1.5 * kMost, std::numeric_limits<double>::infinity()})
    EXPECT_TRUE(std::isnan(round_power(v, nearest, false))) << v;
  EXPECT_TRUE(std::isnan(round_power(std::nan(""), up, true)));
}

TEST(Compare, AreTheMeasuresThoseOfTheirFormulas) {
  const Comparison c =
      compare_elements(floats({1, -2, 4, 0}), floats({1, -2.5F, 4.5F, 0}), 0.1, 0.1);
  EXPECT_DOUBLE_EQ(c.max_abs, 0.5);
  EXPECT_DOUBLE_EQ(c.mean_abs, 0.25);
  EXPECT_DOUBLE_EQ(c.max_rel, 0.25);
  EXPECT_DOUBLE_EQ(c.snr_db, 10 * std::log10(21 / 0.5));
  EXPECT_NEAR(c.cosine, 24 / std::sqrt(21 * 27.5), 1e-12);
  EXPECT_DOUBLE_EQ(c.range, 6);
  EXPECT_EQ(c.wrong, 1);  // 0.5 > 0.1 + 0.2, but not 0.1 + 0.4
}

Array doubles(const std::vector<double>& values) {
  Array a(DType::float64, {static_cast<int64_t>(values.size())});
  std::ranges::copy(values, a.data<double>());
  return a;
}

TEST(Compare, AreSignalAndAngleThoseOfNumbersWhoseSquaresNoDoubleHolds) {
  // Against a in one size, b in another: an angle of cos = 24 / (sqrt 21 sqrt 27.5).
  const auto scaled = [](double by) {
    return std::pair{doubles({by, -2 * by, 4 * by, 0}), doubles({by, -2.5 * by, 4.5 * by, 0})};
  };
  for (const double by : {1e-318, 1e-300, 1e-200, 1e-30, 1.0, 1e30, 1e200, 1e307}) {
    const auto [a, b] = scaled(by);
    const Comparison c = compare_elements(a, b, 0, 0);
    const double precision = by < 1e-310 ? 1e-2 : 1e-9;  // few bits are left there
    EXPECT_NEAR(c.snr_db, 10 * std::log10(21 / 0.5), precision) << by;
    EXPECT_NEAR(c.cosine, 24 / std::sqrt(21 * 27.5), precision) << by;
  }
  const Comparison opposite =
      compare_elements(doubles({1e308, 1e308}), doubles({-1e308, -1e308}), 0, 0);
  EXPECT_NEAR(opposite.snr_db, -20 * std::log10(2), 1e-9) << "no double is as large as a - b";
  EXPECT_NEAR(opposite.cosine, -1, 1e-12);
  const Comparison apart = compare_elements(doubles({1, 1e-200}), doubles({1, 2e-200}), 0, 0);
  EXPECT_NEAR(apart.snr_db, 4000, 1e-6) << "1 to 1e-200";
  EXPECT_NEAR(apart.cosine, 1, 1e-12);
}

TEST(Compare, HaveNumbersThatAreNoneNeitherSignalNorAngle) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               inf = std::numeric_limits<double>::infinity();
  for (const double odd : {nan, inf, -inf})
    for (const bool first : {true, false}) {
      const Comparison c = first ? compare_elements(doubles({odd, 2}), doubles({1, 2}), 0, 0)
                                 : compare_elements(doubles({1, 2}), doubles({odd, 2}), 0, 0);
      EXPECT_TRUE(std::isnan(c.snr_db)) << odd << first;
      EXPECT_TRUE(std::isnan(c.cosine)) << odd << first;
      EXPECT_EQ(c.max_abs, inf) << odd << first;
    }
  const Comparison both =
      compare_elements(doubles({nan, inf, 3, 4}), doubles({nan, inf, 3, 5}), 0, 0);
  EXPECT_NEAR(both.snr_db, 10 * std::log10(25), 1e-9) << "of the others where both have it";
  EXPECT_NEAR(both.cosine, 29 / std::sqrt(25 * 34), 1e-12);
}

TEST(Compare, IsANanOnOneSideWrongAndOnBothRight) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(compare_elements(floats({nan, inf, 1}), floats({nan, inf, 1}), 0, 0).wrong, 0);
  EXPECT_EQ(compare_elements(floats({nan, inf, 1}), floats({1, 1, nan}), 1e9, 1e9).wrong, 3);
  EXPECT_FALSE(compare_elements(floats({1}), floats({1, 1}), 1, 1).same_shape);
}

TEST(Compare, AreLargeIntegersThatRoundToOneDoubleTold) {
  Array a(DType::int64, {1}), b(DType::int64, {1});
  a.data<int64_t>()[0] = (int64_t{1} << 60) + 1;
  b.data<int64_t>()[0] = int64_t{1} << 60;
  EXPECT_EQ(compare_elements(a, b, 0, 0).wrong, 1);
}

TEST(Npy, DoesEveryTypeComeBackAsItWas) {
  for (DType dtype :
       {DType::float32, DType::float64, DType::float16, DType::int8, DType::uint8, DType::int16,
        DType::uint16, DType::int32, DType::uint32, DType::int64, DType::uint64, DType::boolean})
    for (const Dims& dims : {Dims{}, Dims{1}, Dims{2, 3}, Dims{0, 4}}) {
      Array a(dtype, dims);
      with_element_kind(a.kind(), [&]<class T>(T) {
        for (int64_t i = 0; i < a.size(); ++i) a.data<T>()[i] = static_cast<T>(i % 2 == 0 ? 1 : 0);
      });
      const Result<Array> back = from_npy(to_npy(a), "test.npy");
      ASSERT_TRUE(back.ok()) << back.errors().front().text();
      EXPECT_EQ(back->dtype(), dtype);
      EXPECT_EQ(back->dims(), dims);
      EXPECT_EQ(back->reals(), a.reals());
    }
}

TEST(Npy, IsEveryHalfWrittenBitForBit) {
  std::vector<float> values;
  for (int bits = 0; bits <= 0xFFFF; ++bits) {
    const int magnitude = bits & 0x7FFF;
    double v = magnitude > 0x7C00    ? std::nan("")
               : magnitude == 0x7C00 ? std::numeric_limits<double>::infinity()
                                     : value(magnitude, 10, 15);
    values.push_back(static_cast<float>(std::copysign(v, bits > 0x7FFF ? -1.0 : 1.0)));
  }
  const std::string file = to_npy(floats(values, DType::float16));
  const char* at = file.data() + file.size() - 2 * values.size();
  for (size_t bits = 0; bits < values.size(); ++bits, at += 2) {
    const size_t got = static_cast<uint8_t>(at[0]) + 256U * static_cast<uint8_t>(at[1]);
    ASSERT_EQ(got, std::isnan(values[bits]) ? (bits & 0x8000U) | 0x7E00U : bits);
  }
  const Result<Array> back = from_npy(file, "half.npy");
  ASSERT_TRUE(back.ok());
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_TRUE(std::isnan(values[i]) || back->data<float>()[i] == values[i]) << values[i];
}

std::string with_header(const std::string& header, const std::string& data) {
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size());
  out += '\0';
  return out + header + data;
}

TEST(Npy, AreFortranOrderAndBigEndianRead) {
  const std::string header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 2), }\n";
  const Result<Array> a = from_npy(with_header(header, std::string("\0\1\0\2\0\3\0\4", 8)), "f");
  ASSERT_TRUE(a.ok());
  EXPECT_EQ(a->integers(), (std::vector<int64_t>{1, 3, 2, 4}));
}

TEST(Npy, IsEveryDamagedFileRefused) {
  const std::string good = to_npy(floats({1, 2, 3}));
  for (size_t cut = 0; cut < good.size(); ++cut)
    EXPECT_FALSE(from_npy(std::string_view(good).substr(0, cut), "cut.npy").ok()) << cut;
  for (const char* header :
       {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (x,), }", "{}"})
    EXPECT_FALSE(from_npy(with_header(header, "1234"), "bad.npy").ok()) << header;
}

}  // namespace
}  // namespace accsim::sim::ref
