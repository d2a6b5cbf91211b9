#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

namespace accsim::hw {

/// What a code is made of.
enum class NumberKind : uint8_t {
  signed_integer,    ///< two's complement
  unsigned_integer,  ///< from 0 on
  real,              ///< sign, exponent, mantissa; the lowest exponent has subnormals and zeros
  power,             ///< a power of two: an exponent alone, without sign or zero
};

/// Which codes of a float are no finite numbers.
enum class Specials : uint8_t {
  none,                ///< none: every code is a finite number
  ieee,                ///< the highest exponent: infinities with mantissa 0, else NaNs
  one_nan,             ///< all ones below the sign: NaN; there are no infinities
  nan_for_minus_zero,  ///< what would be -0: NaN; there are no infinities
};

/// The rows of kNumberFormats, in their order.
enum class FormatId : uint8_t {
  int2,
  int4,
  int8,
  int16,
  int32,
  int64,
  uint2,
  uint4,
  uint8,
  uint16,
  uint32,
  uint64,
  float4e2m1,
  float6e2m3,
  float6e3m2,
  float8e4m3fn,
  float8e4m3fnuz,
  float8e5m2,
  float8e5m2fnuz,
  float8e8m0,
  float16,
  bfloat16,
  float32,
  float64,
};

/// 2^exponent, for -1074 <= exponent <= 1023: all that a double holds.
constexpr double power_of_two(int exponent) {
  constexpr int kMantissa = 52, kBias = 1023;
  return exponent > -kBias
             ? std::bit_cast<double>(static_cast<uint64_t>(exponent + kBias) << kMantissa)
             : std::bit_cast<double>(uint64_t{1} << (exponent + kBias - 1 + kMantissa));
}

/// Bytes of so many elements of `bits` each; those of less than a byte are packed without gaps.
/// `bits` is a whole number of bytes otherwise.
constexpr int64_t packed_bytes(int bits, int64_t elements) {
  return bits < 8 ? (elements * bits + 7) / 8 : elements * (bits / 8);
}

/// How a number is coded. A float's value is (-1)^sign * 2^(E - bias) * (1 + M / 2^mantissa), for a
/// stored exponent E of 0 (-1)^sign * 2^(1 - bias) * M / 2^mantissa; a power's is 2^(E - bias).
/// A format says nothing of scales: blocks of elements that share one name two formats.
struct NumberFormat {
  FormatId id;
  std::string_view name;  ///< as machine files and ONNX write it
  NumberKind kind;
  int bits;
  int exponent = 0, mantissa = 0, bias = 0;  ///< of floats; the first two in bits
  Specials specials = Specials::none;
  std::string_view source;  ///< where it is defined

  constexpr bool is_integer() const {
    return kind == NumberKind::signed_integer || kind == NumberKind::unsigned_integer;
  }
  constexpr bool is_float() const { return !is_integer(); }
  constexpr bool has_sign() const {
    return kind == NumberKind::signed_integer || kind == NumberKind::real;
  }
  constexpr bool has_infinities() const { return specials == Specials::ieee; }
  constexpr bool has_nan() const { return specials != Specials::none; }
  /// Several elements share a byte.
  constexpr bool is_packed() const { return bits < 8; }
  /// A byte holds one element at least.
  constexpr bool fits_byte() const { return bits <= 8; }
  /// Bytes of so many elements, packed from the low end without gaps.
  constexpr int64_t bytes(int64_t elements) const { return packed_bytes(bits, elements); }
  /// Of the smallest normal number.
  constexpr int least_exponent() const { return (kind == NumberKind::power ? 0 : 1) - bias; }
  /// Of the largest number.
  constexpr int highest_exponent() const {
    const bool is_whole_top_special =  // a mantissa of no bits leaves the code of NaN nothing else
        specials == Specials::ieee || (specials == Specials::one_nan && mantissa == 0);
    return (1 << exponent) - 1 - bias - (is_whole_top_special ? 1 : 0);
  }
  /// From 1 to the next larger number; 1 for integers.
  constexpr double epsilon() const { return is_integer() ? 1 : power_of_two(-mantissa); }
  /// The smallest number above 0, a subnormal where there are any.
  constexpr double least_positive() const {
    return is_integer() ? 1 : power_of_two(least_exponent() - mantissa);
  }
  /// The largest finite number; of 64-bit integers the nearest double.
  constexpr double highest() const {
    if (is_integer()) return power_of_two(bits - (has_sign() ? 1 : 0)) - 1;
    const bool top_code_is_nan = specials == Specials::one_nan && mantissa > 0;
    const double significand = 2 - epsilon() * (top_code_is_nan ? 2 : 1);
    return power_of_two(highest_exponent()) * significand;
  }
  /// The lowest finite number.
  constexpr double lowest() const {
    if (kind == NumberKind::signed_integer) return -power_of_two(bits - 1);
    if (kind == NumberKind::power) return least_positive();
    return has_sign() ? -highest() : 0;
  }
};

namespace number_sources {
inline constexpr std::string_view kInteger = "two's complement or binary";
inline constexpr std::string_view kIeee = "IEEE 754-2019, binary interchange formats";
inline constexpr std::string_view kBfloat16 = "float32 less its low 16 bits";
inline constexpr std::string_view kOfp8 = "OCP 8-bit Floating Point (OFP8) 1.0";
inline constexpr std::string_view kMx = "OCP Microscaling Formats (MX) 1.0, elements";
inline constexpr std::string_view kMxScale = "OCP Microscaling Formats (MX) 1.0, scales";
inline constexpr std::string_view kFnuz = "arXiv:2206.02915; LLVM's APFloat has the same";
}  // namespace number_sources

/// Every format of numbers that is known, stored or computed with.
inline constexpr auto kNumberFormats = [] {
  using enum NumberKind;
  using enum Specials;
  using namespace number_sources;
  return std::array<NumberFormat, 24>{{
      {FormatId::int2, "int2", signed_integer, 2, 0, 0, 0, none, kInteger},
      {FormatId::int4, "int4", signed_integer, 4, 0, 0, 0, none, kInteger},
      {FormatId::int8, "int8", signed_integer, 8, 0, 0, 0, none, kInteger},
      {FormatId::int16, "int16", signed_integer, 16, 0, 0, 0, none, kInteger},
      {FormatId::int32, "int32", signed_integer, 32, 0, 0, 0, none, kInteger},
      {FormatId::int64, "int64", signed_integer, 64, 0, 0, 0, none, kInteger},
      {FormatId::uint2, "uint2", unsigned_integer, 2, 0, 0, 0, none, kInteger},
      {FormatId::uint4, "uint4", unsigned_integer, 4, 0, 0, 0, none, kInteger},
      {FormatId::uint8, "uint8", unsigned_integer, 8, 0, 0, 0, none, kInteger},
      {FormatId::uint16, "uint16", unsigned_integer, 16, 0, 0, 0, none, kInteger},
      {FormatId::uint32, "uint32", unsigned_integer, 32, 0, 0, 0, none, kInteger},
      {FormatId::uint64, "uint64", unsigned_integer, 64, 0, 0, 0, none, kInteger},
      {FormatId::float4e2m1, "float4e2m1", real, 4, 2, 1, 1, none, kMx},
      {FormatId::float6e2m3, "float6e2m3", real, 6, 2, 3, 1, none, kMx},
      {FormatId::float6e3m2, "float6e3m2", real, 6, 3, 2, 3, none, kMx},
      {FormatId::float8e4m3fn, "float8e4m3fn", real, 8, 4, 3, 7, one_nan, kOfp8},
      {FormatId::float8e4m3fnuz, "float8e4m3fnuz", real, 8, 4, 3, 8, nan_for_minus_zero, kFnuz},
      {FormatId::float8e5m2, "float8e5m2", real, 8, 5, 2, 15, ieee, kOfp8},
      {FormatId::float8e5m2fnuz, "float8e5m2fnuz", real, 8, 5, 2, 16, nan_for_minus_zero, kFnuz},
      {FormatId::float8e8m0, "float8e8m0", power, 8, 8, 0, 127, one_nan, kMxScale},
      {FormatId::float16, "float16", real, 16, 5, 10, 15, ieee, kIeee},
      {FormatId::bfloat16, "bfloat16", real, 16, 8, 7, 127, ieee, kBfloat16},
      {FormatId::float32, "float32", real, 32, 8, 23, 127, ieee, kIeee},
      {FormatId::float64, "float64", real, 64, 11, 52, 1023, ieee, kIeee},
  }};
}();

/// The format of that id.
constexpr const NumberFormat& number_format(FormatId id) {
  return kNumberFormats[static_cast<size_t>(id)];
}
/// The format of that name; null if there is none.
constexpr const NumberFormat* find_format(std::string_view name) {
  for (const NumberFormat& f : kNumberFormats)
    if (f.name == name) return &f;
  return nullptr;
}

}  // namespace accsim::hw
