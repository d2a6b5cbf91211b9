#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "sim/onnx/decode.h"

namespace accsim::sim::onnx {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// A binary float of 1 + exponent_bits + mantissa_bits bits, IEEE rules for the highest exponent.
double decode_ieee(uint64_t raw, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint64_t mantissa = raw & ((uint64_t{1} << mantissa_bits) - 1);
  const int exponent =
      static_cast<int>((raw >> mantissa_bits) & ((uint64_t{1} << exponent_bits) - 1));
  const double sign = (raw >> (exponent_bits + mantissa_bits)) & 1 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return mantissa != 0 ? kNan : sign * kInf;
  const double fraction = std::ldexp(static_cast<double>(mantissa), -mantissa_bits);
  return sign * (exponent == 0 ? std::ldexp(fraction, 1 - bias)
                               : std::ldexp(1 + fraction, exponent - bias));
}

/// The finite-only kinds: no infinities, one NaN pattern, a bias of their own.
double decode_finite(uint64_t raw, int exponent_bits, int mantissa_bits, int bias) {
  const uint64_t mantissa = raw & ((uint64_t{1} << mantissa_bits) - 1);
  const int exponent =
      static_cast<int>((raw >> mantissa_bits) & ((uint64_t{1} << exponent_bits) - 1));
  const double sign = (raw >> (exponent_bits + mantissa_bits)) & 1 ? -1 : 1;
  const double fraction = std::ldexp(static_cast<double>(mantissa), -mantissa_bits);
  return sign * (exponent == 0 ? std::ldexp(fraction, 1 - bias)
                               : std::ldexp(1 + fraction, exponent - bias));
}

double decode_real(DType dtype, uint64_t raw) {
  switch (dtype) {
    case DType::float32:
      return std::bit_cast<float>(static_cast<uint32_t>(raw));
    case DType::float64:
      return std::bit_cast<double>(raw);
    case DType::float16:
      return decode_ieee(raw, 5, 10);
    case DType::bfloat16:
      return std::bit_cast<float>(static_cast<uint32_t>(raw << 16));
    case DType::float8e4m3fn:
      return (raw & 0x7F) == 0x7F ? kNan : decode_finite(raw, 4, 3, 7);
    case DType::float8e4m3fnuz:
      return raw == 0x80 ? kNan : decode_finite(raw, 4, 3, 8);
    case DType::float8e5m2:
      return decode_ieee(raw, 5, 2);
    case DType::float8e5m2fnuz:
      return raw == 0x80 ? kNan : decode_finite(raw, 5, 2, 16);
    case DType::float4e2m1:
      return decode_finite(raw, 2, 1, 1);
    case DType::float6e2m3:
      return decode_finite(raw, 2, 3, 1);
    case DType::float6e3m2:
      return decode_finite(raw, 3, 2, 3);
    case DType::float8e8m0:
      return raw == 0xFF ? kNan : std::ldexp(1.0, static_cast<int>(raw) - 127);
    default:
      return kNan;
  }
}

bool is_signed(DType dtype) {
  switch (dtype) {
    case DType::int2:
    case DType::int4:
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::int64:
      return true;
    default:
      return false;
  }
}

int64_t decode_integer(DType dtype, uint64_t raw) {
  if (dtype == DType::boolean) return raw != 0;
  const int spare = 64 - bits(dtype);
  if (!is_signed(dtype)) return static_cast<int64_t>(raw);
  return static_cast<int64_t>(raw << spare) >> spare;
}

/// The bits of element i; elements under a byte are packed from the low end, those of 6 bits across
/// bytes.
uint64_t element_bits(DType dtype, size_t i, ByteSpan raw) {
  const size_t width = static_cast<size_t>(bits(dtype));
  if (width >= 8) return little_endian(raw.data + i * (width / 8), width / 8);
  const size_t first = i * width / 8, last = (i * width + width - 1) / 8;
  return (little_endian(raw.data + first, last - first + 1) >> (i * width % 8)) &
         ((1u << width) - 1);
}

}  // namespace

ConstPtr decode_elements(DType dtype, size_t count, ByteSpan raw) {
  if (is_float(dtype)) {
    std::vector<double> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = decode_real(dtype, element_bits(dtype, i, raw));
    return std::make_shared<const ConstData>(std::move(values));
  }
  std::vector<int64_t> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = decode_integer(dtype, element_bits(dtype, i, raw));
  return std::make_shared<const ConstData>(std::move(values));
}

}  // namespace accsim::sim::onnx
