#include "sim/ref/raw.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace accsim::sim::ref {
namespace {

/// Every code of a type, in the order of the codes, packed from the low end.
std::string all_codes(DType dtype) {
  const int width = bits(dtype);
  std::string out;
  if (width >= 8) {
    for (int code = 0; code < 1 << width; ++code)
      for (int byte = 0; byte < width / 8; ++byte)
        out += static_cast<char>((code >> (8 * byte)) & 0xFF);
    return out;
  }
  out.resize((static_cast<size_t>(width) << width) / 8);
  size_t place = 0;  // bit by bit
  for (int code = 0; code < 1 << width; ++code)
    for (int bit = 0; bit < width; ++bit, ++place)
      out[place / 8] = static_cast<char>(out[place / 8] | (code >> bit & 1) << place % 8);
  return out;
}

bool is_nan(const Array& array, int64_t i) {
  return is_float(array.dtype()) && std::isnan(array.data<float>()[i]);
}

TEST(Raw, IsEveryCodeOfATypeWrittenAsItWasRead) {
  for (const DType dtype :
       {DType::int8, DType::uint8, DType::int16, DType::uint16, DType::float16, DType::bfloat16,
        DType::float8e4m3fn, DType::float8e4m3fnuz, DType::float8e5m2, DType::float8e5m2fnuz,
        DType::float8e8m0, DType::uint4, DType::int4, DType::float4e2m1, DType::uint2, DType::int2,
        DType::float6e2m3, DType::float6e3m2}) {
    SCOPED_TRACE(name(dtype));
    const std::string codes = all_codes(dtype);
    const int64_t count = int64_t{1} << bits(dtype);
    const auto array = from_raw(codes, dtype, {count}, "file");
    ASSERT_TRUE(array.ok());
    const std::string written = to_raw(*array);
    ASSERT_EQ(written.size(), codes.size());
    const auto again = from_raw(written, dtype, {count}, "file");
    ASSERT_TRUE(again.ok());
    for (int64_t i = 0; i < count; ++i) {
      // Not every NaN is kept as another one.
      EXPECT_EQ(is_nan(*array, i), is_nan(*again, i)) << i;
      if (is_nan(*array, i) || bits(dtype) < 8) continue;
      const auto at = static_cast<size_t>(i * bits(dtype) / 8);
      const auto bytes = static_cast<size_t>(bits(dtype) / 8);
      EXPECT_EQ(written.substr(at, bytes), codes.substr(at, bytes)) << i;
    }
    if (bits(dtype) < 8) {
      EXPECT_EQ(written, codes);
    }
  }
}

TEST(Raw, AreWideTypesTheirBytes) {
  const auto real = from_raw(std::string("\0\0\xC0\x3F", 4), DType::float32, {}, "file");
  ASSERT_TRUE(real.ok());
  EXPECT_EQ(real->data<float>()[0], 1.5F);
  EXPECT_EQ(to_raw(*real), std::string("\0\0\xC0\x3F", 4));
  const auto whole = from_raw(std::string("\x02\1\0\0\0\0\0\0", 8), DType::int64, {1}, "f");
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->data<int64_t>()[0], 258);
}

TEST(Raw, IsAnotherNumberOfBytesAnError) {
  for (const auto& [bytes, dims] : {std::pair(5, Dims{3}), std::pair(0, Dims{1}),
                                    std::pair(7, Dims{2, 2}), std::pair(8, Dims{3})}) {
    const auto array =
        from_raw(std::string(static_cast<size_t>(bytes), 'x'), DType::float16, dims, "x.bin");
    ASSERT_FALSE(array.ok());
    EXPECT_EQ(array.errors().front().where, "x.bin");
    EXPECT_NE(array.errors().front().message.find("float16"), std::string::npos);
  }
  EXPECT_TRUE(from_raw("", DType::float16, {0, 7}, "x.bin").ok());
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(from_raw("", DType::float64, {most / 2, 3}, "x.bin").ok());
  EXPECT_FALSE(from_raw("", DType::float64, {most / 2}, "x.bin").ok());
  EXPECT_FALSE(from_raw("", DType::string, {0}, "x.bin").ok());
}

}  // namespace
}  // namespace accsim::sim::ref
