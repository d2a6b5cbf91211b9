#include "hw/numbers/number_format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>

namespace accsim::hw {
namespace {

const NumberFormat& named(std::string_view name) {
  const NumberFormat* const f = find_format(name);
  return f != nullptr ? *f : throw std::invalid_argument(std::string(name));
}

TEST(NumberFormats, AreFoundByNameAndById) {
  std::set<std::string_view> names;
  for (const NumberFormat& f : kNumberFormats) {
    EXPECT_EQ(find_format(f.name), &f);
    EXPECT_EQ(&number_format(f.id), &f) << f.name;
    EXPECT_FALSE(f.source.empty()) << f.name;
    names.insert(f.name);
  }
  EXPECT_EQ(names.size(), kNumberFormats.size());
  EXPECT_EQ(find_format("float9"), nullptr);
  EXPECT_EQ(find_format(""), nullptr);
}

TEST(NumberFormats, HaveFieldsThatFillTheirBits) {
  for (const NumberFormat& f : kNumberFormats) {
    const int sign = f.has_sign() ? 1 : 0;
    EXPECT_EQ(f.is_integer() ? f.bits : sign + f.exponent + f.mantissa, f.bits) << f.name;
    EXPECT_NE(f.is_integer(), f.is_float()) << f.name;
    EXPECT_EQ(f.is_integer(), f.exponent + f.mantissa == 0) << f.name;
  }
}

template <class T>
void is_float_of(std::string_view name) {
  using Limits = std::numeric_limits<T>;
  const NumberFormat& f = named(name);
  EXPECT_EQ(f.bits, static_cast<int>(8 * sizeof(T)));
  EXPECT_EQ(f.mantissa, Limits::digits - 1);
  EXPECT_EQ(f.bias, Limits::max_exponent - 1);
  EXPECT_EQ(f.least_exponent(), Limits::min_exponent - 1);
  EXPECT_EQ(f.highest(), static_cast<double>(Limits::max()));
  EXPECT_EQ(f.lowest(), static_cast<double>(Limits::lowest()));
  EXPECT_EQ(f.epsilon(), static_cast<double>(Limits::epsilon()));
  EXPECT_EQ(f.least_positive(), static_cast<double>(Limits::denorm_min()));
}
template <class T>
void is_integer_of(std::string_view name) {
  using Limits = std::numeric_limits<T>;
  const NumberFormat& f = named(name);
  EXPECT_EQ(f.bytes(1), static_cast<int64_t>(sizeof(T)));
  EXPECT_EQ(f.has_sign(), Limits::is_signed);
  EXPECT_EQ(f.highest(), static_cast<double>(Limits::max()));
  EXPECT_EQ(f.lowest(), static_cast<double>(Limits::lowest()));
  EXPECT_EQ(f.epsilon(), 1);
}

TEST(NumberFormats, HaveTheLimitsOfTheProcessorsTypes) {
  is_float_of<float>("float32");
  is_float_of<double>("float64");
  is_integer_of<int8_t>("int8");
  is_integer_of<int16_t>("int16");
  is_integer_of<int32_t>("int32");
  is_integer_of<int64_t>("int64");
  is_integer_of<uint8_t>("uint8");
  is_integer_of<uint16_t>("uint16");
  is_integer_of<uint32_t>("uint32");
  is_integer_of<uint64_t>("uint64");
}

/// As the specifications have them: largest number, smallest normal and smallest subnormal.
struct Published {
  const char* name;
  double highest, normal, least;
  bool infinities, nan;
};
// OFP8 1.0; MX 1.0; IEEE 754's binary16; bfloat16 as float32's range with 8
// significant bits; arXiv:2206.02915 for the fnuz kinds.
const Published kPublished[] = {
    {"float8e4m3fn", 448, 0x1p-6, 0x1p-9, false, true},
    {"float8e5m2", 57344, 0x1p-14, 0x1p-16, true, true},
    {"float8e4m3fnuz", 240, 0x1p-7, 0x1p-10, false, true},
    {"float8e5m2fnuz", 57344, 0x1p-15, 0x1p-17, false, true},
    {"float6e3m2", 28, 0x1p-2, 0x1p-4, false, false},
    {"float6e2m3", 7.5, 1, 0.125, false, false},
    {"float4e2m1", 6, 1, 0.5, false, false},
    {"float8e8m0", 0x1p127, 0x1p-127, 0x1p-127, false, true},
    {"float16", 65504, 0x1p-14, 0x1p-24, true, true},
    {"bfloat16", 0x1.FEp127, 0x1p-126, 0x1p-133, true, true},
};

TEST(NumberFormats, HaveTheLimitsThatTheirSpecificationsPublish) {
  for (const Published& p : kPublished) {
    const NumberFormat& f = named(p.name);
    EXPECT_EQ(f.highest(), p.highest) << p.name;
    EXPECT_EQ(f.lowest(), f.has_sign() ? -p.highest : p.least) << p.name;
    EXPECT_EQ(std::ldexp(1.0, f.least_exponent()), p.normal) << p.name;
    EXPECT_EQ(f.least_positive(), p.least) << p.name;
    EXPECT_EQ(f.has_infinities(), p.infinities) << p.name;
    EXPECT_EQ(f.has_nan(), p.nan) << p.name;
  }
  EXPECT_EQ(named("int4").lowest(), -8);
  EXPECT_EQ(named("int4").highest(), 7);
  EXPECT_EQ(named("uint4").highest(), 15);
  EXPECT_EQ(named("int2").lowest(), -2);
  EXPECT_EQ(named("uint2").highest(), 3);
}

TEST(NumberFormats, PackWhatIsNarrowerThanAByte) {
  EXPECT_EQ(named("int4").bytes(3), 2);
  EXPECT_EQ(named("int2").bytes(5), 2);
  EXPECT_EQ(named("float6e3m2").bytes(5), 4);
  EXPECT_EQ(named("float4e2m1").bytes(1), 1);
  EXPECT_EQ(named("bfloat16").bytes(3), 6);
  EXPECT_TRUE(named("float6e2m3").is_packed());
  EXPECT_FALSE(named("int8").is_packed());
}

}  // namespace
}  // namespace accsim::hw
