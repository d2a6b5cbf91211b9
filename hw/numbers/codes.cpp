#include "hw/numbers/codes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace accsim::hw {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr NumberFormat kDouble = number_format(FormatId::float64);

uint64_t low_bits(int count) { return (uint64_t{1} << count) - 1; }

bool is_lone_nan(const NumberFormat& f, uint64_t code) {
  const int below_sign = f.exponent + f.mantissa;
  if (f.specials == Specials::one_nan) return (code & low_bits(below_sign)) == low_bits(below_sign);
  return f.specials == Specials::nan_for_minus_zero && code == uint64_t{1} << below_sign;
}

}  // namespace

double decode_real(const NumberFormat& f, uint64_t code) {
  if (is_lone_nan(f, code)) return kNan;
  const auto exponent = static_cast<int>(code >> f.mantissa & low_bits(f.exponent));
  if (f.kind == NumberKind::power) return power_of_two(exponent - f.bias);
  const uint64_t mantissa = code & low_bits(f.mantissa);
  const uint64_t sign = code >> (f.exponent + f.mantissa) << (kDouble.bits - 1);
  if (exponent == 0) {
    const double least = static_cast<double>(mantissa) * f.least_positive();
    return std::bit_cast<double>(std::bit_cast<uint64_t>(least) | sign);
  }
  const bool is_special = f.has_infinities() && exponent == (1 << f.exponent) - 1;
  const int wide = is_special ? (1 << kDouble.exponent) - 1 : exponent - f.bias + kDouble.bias;
  return std::bit_cast<double>(sign | static_cast<uint64_t>(wide) << kDouble.mantissa |
                               mantissa << (kDouble.mantissa - f.mantissa));
}

int64_t decode_integer(const NumberFormat& f, uint64_t code) {
  const int spare = 64 - f.bits;
  if (!f.has_sign()) return static_cast<int64_t>(code);
  return static_cast<int64_t>(code << spare) >> spare;
}

double round_real(const NumberFormat& f, double v, Beyond beyond) {
  if (std::isnan(v)) return f.has_nan() ? v : f.highest();
  const double zero = f.specials == Specials::nan_for_minus_zero ? 0.0 : std::copysign(0.0, v);
  if (v == 0) return zero;
  double rounded = v;
  if (std::isfinite(v)) {
    const int unit = std::max(std::ilogb(v), f.least_exponent()) - f.mantissa;
    rounded = std::ldexp(std::nearbyint(std::ldexp(v, -unit)), unit);
  }
  if (rounded == 0) return zero;
  if (std::abs(rounded) <= f.highest()) return rounded;
  if (beyond == Beyond::saturates || !f.has_nan()) return std::copysign(f.highest(), v);
  return f.has_infinities() ? std::copysign(kInf, v) : kNan;
}

}  // namespace accsim::hw
