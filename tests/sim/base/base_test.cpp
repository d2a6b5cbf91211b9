#include <gtest/gtest.h>

#include "sim/base/dims.h"
#include "sim/base/dtype.h"
#include "sim/base/result.h"
#include "sim/base/units.h"

namespace accsim {
namespace {

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Comparable = requires(A a, B b) {
  a < b;
};

static_assert(Addable<Cycles, Cycles> && Addable<Picojoules, Picojoules>);
static_assert(!Addable<Cycles, Bytes> && !Addable<Cycles, Macs> && !Addable<Bytes, Picojoules>);
static_assert(!Addable<Cycles, int64_t> && !Comparable<Cycles, Bytes>);

TEST(Units, CountAndScale) {
  Cycles c(5);
  c += Cycles(7);
  EXPECT_EQ(c, Cycles(12));
  EXPECT_EQ(c * 3 - Cycles(6), Cycles(30));
  EXPECT_LT(Bytes(3), Bytes(4));
}

TEST(UnitsDeathTest, StopRatherThanWrap) {
  Bytes most(INT64_MAX);
  EXPECT_DEATH(most += Bytes(1), "quantity overflow");
  EXPECT_DEATH(most * 2, "quantity overflow");
}

TEST(CeilDiv, RoundsUp) {
  for (int64_t a = 0; a < 40; ++a)
    for (int64_t b = 1; b < 9; ++b) {
      EXPECT_GE(ceil_div(a, b) * b, a);
      EXPECT_LT((ceil_div(a, b) - 1) * b, a);
    }
}

TEST(Dims, CountElementsAndRefuseOverflow) {
  EXPECT_EQ(checked_elements({}), 1);
  EXPECT_EQ(checked_elements({2, 3, 4}), 24);
  EXPECT_EQ(checked_elements({int64_t{1} << 40, int64_t{1} << 40}), std::nullopt);
  EXPECT_EQ(checked_elements({int64_t{1} << 40, int64_t{1} << 40, 0}), std::nullopt);
  EXPECT_EQ(checked_elements({-1}), std::nullopt);
  EXPECT_EQ(checked_elements({5, 0}), 0);
  EXPECT_EQ(elements({2, 3, 4, 5}, 1, 3), 12);
}

TEST(Dims, BroadcastAsNumpyDoes) {
  EXPECT_EQ(broadcast_dims({8, 1, 6, 1}, {7, 1, 5}), (Dims{8, 7, 6, 5}));
  EXPECT_EQ(broadcast_dims({}, {3}), (Dims{3}));
  EXPECT_EQ(broadcast_dims({0, 3}, {1, 3}), (Dims{0, 3}));
  EXPECT_EQ(broadcast_dims({2}, {3}), std::nullopt);
}

TEST(DType, KnowsItsSize) {
  EXPECT_EQ(storage_bytes(DType::float32, 3), 12);
  EXPECT_EQ(storage_bytes(DType::int4, 3), 2);
  EXPECT_EQ(name(DType::bfloat16), "bfloat16");
  EXPECT_EQ(dtype_from_onnx(26), DType::int2);
  EXPECT_EQ(storage_bytes(DType::float6e3m2, 5), 4);
  EXPECT_EQ(dtype_from_onnx(27), DType::float6e2m3);
  EXPECT_EQ(dtype_from_onnx(28), DType::float6e3m2);
  EXPECT_EQ(dtype_from_onnx(29), std::nullopt);
  EXPECT_EQ(dtype_from_onnx(-1), std::nullopt);
}

// The table has the facts of numbers, DType those of what is no number of a machine.
TEST(DType, IsANumberOfTheTableOrNone) {
  size_t numbers = 0;
  for (int64_t i = 0; const auto t = dtype_from_onnx(i); ++i) {
    const hw::NumberFormat* const format = hw::find_format(name(*t));
    EXPECT_EQ(format_of(*t), format) << name(*t);
    numbers += format != nullptr ? 1 : 0;
    EXPECT_EQ(is_float(*t) || is_integer(*t), format != nullptr) << name(*t);
    EXPECT_EQ(bits(*t), format != nullptr ? format->bits : bits(*t)) << name(*t);
  }
  EXPECT_EQ(numbers, hw::kNumberFormats.size());
  for (const DType t : {DType::undefined, DType::string, DType::boolean, DType::complex64})
    EXPECT_EQ(format_of(t), nullptr) << name(t);
  EXPECT_EQ(bits(DType::boolean), 8);
  EXPECT_EQ(storage_bytes(DType::complex128, 2), 32);
  EXPECT_EQ(storage_bytes(DType::string, 2), 0);
}

TEST(DType, SaysWhatAByteHolds) {
  EXPECT_TRUE(fits_byte(DType::uint8) && fits_byte(DType::float8e5m2) && fits_byte(DType::int2));
  EXPECT_FALSE(fits_byte(DType::float16) || fits_byte(DType::boolean) || fits_byte(DType::string));
  EXPECT_TRUE(is_packed(DType::uint4) && is_packed(DType::float6e2m3));
  EXPECT_FALSE(is_packed(DType::int8) || is_packed(DType::boolean) || is_packed(DType::undefined));
  EXPECT_TRUE(is_signed_integer(DType::int2) && is_signed_integer(DType::int64));
  EXPECT_FALSE(is_signed_integer(DType::uint8) || is_signed_integer(DType::float32));
}

TEST(Result, HoldsAValueOrErrors) {
  const Result<int> good = 5;
  const Result<int> bad = Error{Errc::io, "no such file", "a.onnx"};
  EXPECT_EQ(*good, 5);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.errors().front().text(), "a.onnx: no such file");
}

TEST(ResultDeathTest, DoesNotHandOutWhatItDoesNotHold) {
  const Result<int> bad = Error{Errc::io, "no", ""};
  EXPECT_DEATH((void)bad.value(), "failed Result");
}

}  // namespace
}  // namespace accsim
