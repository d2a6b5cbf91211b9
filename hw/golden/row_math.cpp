#include "hw/golden/row_math.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace accsim::hw {
namespace {

constexpr int32_t kOne = 1 << 30;  // of tables, and the numerator of a plain reciprocal

int8_t clip_byte(int64_t value, int32_t low, int32_t high) {
  return static_cast<int8_t>(std::min<int64_t>(std::max<int64_t>(value, low), high));
}

Error invalid_error(const char* message) { return {Errc::invalid, message, {}}; }

void check_row(size_t elements) {
  check(elements >= 1 && elements <= static_cast<size_t>(kRowElements),
        "1 to 65536 elements a row");
}

}  // namespace

int32_t row_reciprocal(int32_t numerator, uint32_t divisor) {
  return static_cast<int32_t>((static_cast<uint64_t>(numerator) << 31) / divisor);
}

uint32_t row_root(uint64_t value) {
  uint64_t root = 0;
  for (int bit = 31; bit >= 0; --bit) {
    const uint64_t next = root | uint64_t{1} << bit;
    if (next * next <= value) root = next;
  }
  return static_cast<uint32_t>(root);
}

Result<FixedScale> fixed_scale(double real, int32_t bits) {
  const int64_t one = int64_t{1} << bits;
  if (!(std::abs(real) <= static_cast<double>(one - 1)))
    return invalid_error("a scale that a multiplier can't hold");
  if (real == 0) return FixedScale{0, 0};
  int exponent = 0;  // |real| = mantissa * 2^exponent, mantissa in [1/2, 1)
  std::frexp(real, &exponent);
  int32_t shift = std::min(bits - exponent, 62);
  auto multiplier = static_cast<int64_t>(std::round(std::ldexp(real, shift)));
  if (std::abs(multiplier) == one) {
    multiplier /= 2;
    --shift;
  }
  return FixedScale{static_cast<int32_t>(multiplier), shift};
}

// ---- softmax ------------------------------------------------------------------------------------

namespace {

/// exp of less than this is less than half a unit of the tables.
constexpr double kVanishes = 22.5;
/// Units to divide the reach into: rounded, no difference within it comes to kSoftmaxGone.
constexpr double kUnits = kSoftmaxGone - 2;
constexpr int32_t kLogBits = 16;   // fraction bits of a logarithm to the base 2
constexpr int32_t kLogShift = 50;  // of its result at most, so that sums stay below 2^62
constexpr size_t kLogPieces = 64;  // of its table, between a power of two and the next

/// The unit of differences in nats, and the multipliers. The unit divides the input's step where
/// kUnits of them reach far enough: then only the mask is rounded.
Status set_unit(const SoftmaxScales& scales, SoftmaxTables& t, double& unit) {
  unit = scales.input;
  if (scales.mask == 0) return ok();
  const double reach = std::min(kVanishes, 255 * (scales.input + scales.mask));
  const double parts = std::floor(scales.input * kUnits / reach);
  unit = parts >= 1 ? scales.input / parts : reach / kUnits;
  const double row = scales.input / unit, mask = scales.mask / unit, most = std::max(row, mask);
  if (!(most <= 65535)) return invalid_error("softmax: a step of more than 360 nats");
  while (t.difference_shift < 15 && std::ldexp(most, t.difference_shift + 1) <= 65535)
    ++t.difference_shift;
  t.row_multiplier = static_cast<int32_t>(std::round(std::ldexp(row, t.difference_shift)));
  t.mask_multiplier = static_cast<int32_t>(std::round(std::ldexp(mask, t.difference_shift)));
  return ok();
}

}  // namespace

Result<SoftmaxTables> softmax_tables(const SoftmaxScales& scales) {
  if (!(scales.input > 0 && scales.mask >= 0 && std::isfinite(scales.input + scales.mask)))
    return invalid_error("softmax: scales must be positive");
  if (!(scales.output.scale >= 0x1p-16 && scales.output.scale <= 1))
    return invalid_error("softmax: the output's scale must be in 2^-16 .. 1");
  SoftmaxTables t;
  double unit = 0;
  const Status status = set_unit(scales, t, unit);
  if (!status) return status.errors();
  for (size_t i = 0; i < kSoftmaxDigit; ++i) {
    const auto digit = static_cast<double>(i);
    t.coarse[i] = static_cast<int32_t>(std::round(std::exp(-64 * digit * unit) * kOne));
    t.fine[i] = static_cast<int32_t>(std::round(std::exp(-digit * unit) * kOne));
  }
  const double inverse = 1 / scales.output.scale;
  t.exponent = std::ilogb(inverse);
  // Just below a power of two it would round up to 2^31.
  t.numerator = static_cast<int32_t>(
      std::min(std::round(std::ldexp(inverse, 30 - t.exponent)), 2147483647.0));
  t.output_zero = scales.output.zero;
  return t;
}

int32_t softmax_logit(const SoftmaxTables& t, int8_t x, int8_t mask) {
  return t.row_multiplier * x + t.mask_multiplier * mask;
}

int32_t softmax_difference(const SoftmaxTables& t, int32_t maximum, int32_t logit) {
  const int32_t half = (1 << t.difference_shift) >> 1;
  return std::min((maximum - logit + half) >> t.difference_shift, kSoftmaxGone);
}

int32_t softmax_term(const SoftmaxTables& t, int32_t difference) {
  if (difference >= kSoftmaxGone) return 0;
  const auto d = static_cast<size_t>(difference);
  const int64_t product = int64_t{t.coarse[d / kSoftmaxDigit]} * t.fine[d % kSoftmaxDigit];
  return static_cast<int32_t>((product + kOne / 2) >> 30);
}

SoftmaxFactor softmax_factor(const SoftmaxTables& t, int64_t sum) {
  const auto bits = static_cast<int32_t>(std::bit_width(static_cast<uint64_t>(sum)));  // 31 .. 47
  const auto divisor = static_cast<uint32_t>(bits > 32 ? sum >> (bits - 32) : sum << (32 - bits));
  return {row_reciprocal(t.numerator, divisor), std::min(29 + bits - t.exponent, 62)};
}

int8_t softmax_value(const SoftmaxTables& t, const SoftmaxFactor& f, int32_t difference) {
  const int64_t product = int64_t{softmax_term(t, difference)} * f.reciprocal;
  return clip_byte(round_shift(product, f.shift) + t.output_zero, -128, 127);
}

SoftmaxSum softmax_row(const SoftmaxTables& t, std::span<const int8_t> row,
                       std::span<const int8_t> mask, std::span<int8_t> out) {
  check_row(row.size());
  check(out.size() == row.size() && (mask.empty() || mask.size() == row.size()),
        "a softmax's row, mask and output are of one length");
  const auto logit = [&](size_t i) {
    return softmax_logit(t, row[i], mask.empty() ? int8_t{0} : mask[i]);
  };
  int32_t maximum = logit(0);
  for (size_t i = 1; i < row.size(); ++i) maximum = std::max(maximum, logit(i));
  int64_t sum = 0;
  for (size_t i = 0; i < row.size(); ++i)
    sum += softmax_term(t, softmax_difference(t, maximum, logit(i)));
  const SoftmaxFactor f = softmax_factor(t, sum);
  for (size_t i = 0; i < row.size(); ++i)
    out[i] = softmax_value(t, f, softmax_difference(t, maximum, logit(i)));
  return {maximum, sum};
}

Result<RowLogarithm> softmax_log(const SoftmaxScales& scales, const ElementScale& out) {
  SoftmaxTables t;
  double unit = 0;
  if (!(scales.input > 0 && scales.mask >= 0 && out.scale > 0))
    return invalid_error("softmax: scales must be positive");
  if (const Status status = set_unit(scales, t, unit); !status) return status.errors();
  const double row = std::ldexp(unit, -t.difference_shift) / out.scale;
  const double sum = std::ldexp(std::log(2.0), -kLogBits) / out.scale;
  const Result<FixedScale> larger = fixed_scale(std::max(row, sum));
  if (!larger) return invalid_error("softmax: the logarithm's scale is too small");
  RowLogarithm l;
  l.shift = std::min(larger->shift, kLogShift);
  l.row_multiplier = static_cast<int32_t>(std::round(std::ldexp(row, l.shift)));
  l.sum_multiplier = static_cast<int32_t>(std::round(std::ldexp(sum, l.shift)));
  l.addend = int64_t{out.zero} << l.shift;
  return l;
}

int32_t row_log2(int64_t terms) {
  static const auto table = [] {
    std::array<int32_t, kLogPieces + 1> out{};
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<int32_t>(
          std::round(std::ldexp(std::log2(1 + static_cast<double>(i) / kLogPieces), kLogBits)));
    return out;
  }();
  const auto bits = static_cast<int32_t>(std::bit_width(static_cast<uint64_t>(terms)));  // 31 .. 47
  const auto wide = static_cast<uint32_t>(bits > 32 ? terms >> (bits - 32) : terms << (32 - bits));
  const size_t piece = wide >> 25 & 63;
  const auto rest = static_cast<int32_t>(wide >> 15 & 1023);
  const int32_t rise = (table[piece + 1] - table[piece]) * rest;
  return ((bits - 31) << kLogBits) + table[piece] + ((rise + 512) >> 10);
}

int8_t softmax_log_value(const RowLogarithm& l, const SoftmaxSum& row) {
  const int64_t value = int64_t{row.maximum} * l.row_multiplier +
                        int64_t{row_log2(row.terms)} * l.sum_multiplier + l.addend;
  return clip_byte(round_shift(value, l.shift), -128, 127);
}

// ---- normalisation ------------------------------------------------------------------------------

namespace {

constexpr int32_t kBetaBits = 20;        // fraction bits of beta, and of what gamma scales
constexpr int32_t kMultiplierBits = 25;  // of a channel, without the sign

}  // namespace

int32_t norm_unit_bits(int64_t length) {
  check(length >= 1 && length <= kRowElements, "1 to 65536 elements a row");
  return 30 - (static_cast<int32_t>(std::bit_width(static_cast<uint64_t>(length - 1))) + 1) / 2;
}

Result<int64_t> norm_epsilon(double epsilon, double input_scale, int64_t length) {
  if (!(epsilon >= 0 && input_scale > 0 && length >= 1 && length <= kRowElements))
    return invalid_error("normalisation: epsilon, scale or length out of range");
  const double ratio = static_cast<double>(length) / input_scale;
  const double scaled = std::round(epsilon * ratio * ratio * 0x1p14);
  if (!(scaled <= 0x1p62))
    return invalid_error("normalisation: epsilon is too large for this scale");
  return static_cast<int64_t>(scaled);
}

NormWords pack_channel(const NormChannel& channel) {
  constexpr uint32_t kMask = (2u << kMultiplierBits) - 1;
  const uint32_t multiplier = static_cast<uint32_t>(channel.multiplier) & kMask;
  const uint32_t shift = static_cast<uint32_t>(channel.shift) << (kMultiplierBits + 1);
  return {channel.beta, static_cast<int32_t>(shift | multiplier)};
}

NormChannel unpack_channel(const NormWords& words) {
  const auto word = static_cast<uint32_t>(words[1]);
  constexpr int32_t kShiftBits = 31 - kMultiplierBits;
  const auto high = static_cast<int32_t>(word << kShiftBits);  // the multiplier, its sign on top
  return {words[0], high >> kShiftBits, static_cast<int32_t>(word >> (kMultiplierBits + 1))};
}

Result<NormChannel> norm_channel(double gamma, double beta, double output_scale,
                                 int32_t unit_bits) {
  if (!(output_scale > 0))
    return invalid_error("normalisation: the output's scale must be positive");
  const double shifted = std::round(std::ldexp(beta / output_scale, kBetaBits));
  const Result<FixedScale> scale =
      fixed_scale(std::ldexp(gamma / output_scale, kBetaBits - unit_bits), kMultiplierBits);
  if (!(std::abs(shifted) <= 2147483647.0) || !scale)
    return invalid_error("normalisation: gamma or beta is too large for the output's scale");
  return NormChannel{static_cast<int32_t>(shifted), scale->multiplier, scale->shift};
}

RowSums norm_sums(const NormConstants& n, std::span<const int8_t> row) {
  check_row(row.size());
  RowSums sums;
  for (const int8_t x : row) {
    const int32_t value = x - n.input_zero;
    sums.sum += value;
    sums.squares += static_cast<uint32_t>(value * value);
  }
  return sums;
}

NormFactor norm_factor(const NormConstants& n, const RowSums& sums, int64_t length) {
  const int64_t offset = n.centred ? sums.sum : 0;
  const int64_t variance = length * int64_t{sums.squares} - offset * offset;
  const auto wide = static_cast<uint64_t>(std::max<int64_t>((variance << 14) + n.epsilon, 1));
  const int32_t pairs = std::countl_zero(wide) / 2;
  const uint32_t root = row_root(wide << (2 * pairs));
  // Below 0 only when all elements are equal, and then what is shifted is 0.
  const int32_t shift = std::max(54 - n.unit_bits - pairs, 0);
  return {static_cast<int32_t>(offset), row_reciprocal(kOne, root), shift};
}

int32_t norm_unit(const NormConstants& n, const NormFactor& f, int64_t length, int8_t x) {
  const int64_t away = length * (x - n.input_zero) - f.offset;
  return static_cast<int32_t>(round_shift(away * f.reciprocal, f.shift));
}

int8_t norm_value(const NormConstants& n, const NormChannel& c, int32_t unit) {
  const int64_t scaled = round_shift(int64_t{unit} * c.multiplier, c.shift) + c.beta;
  return clip_byte(round_shift(scaled, kBetaBits) + n.output_zero, n.low, n.high);
}

void norm_row(const NormConstants& n, std::span<const int8_t> row,
              std::span<const NormChannel> channels, int64_t per_channel, std::span<int8_t> out) {
  const auto length = static_cast<int64_t>(row.size());
  const auto each = static_cast<size_t>(per_channel);
  check(out.size() == row.size() && per_channel >= 1 && channels.size() * each >= row.size(),
        "a normalisation has an output and a channel for every element");
  const NormFactor f = norm_factor(n, norm_sums(n, row), length);
  for (size_t i = 0; i < row.size(); ++i)
    out[i] = norm_value(n, channels[i / each], norm_unit(n, f, length, row[i]));
}

// ---- tables and reductions ----------------------------------------------------------------------

long double table_function(TableFunction f, long double x) {
  switch (f) {
    case TableFunction::gelu:
      return x / 2 * std::erfc(-x / std::sqrt(2.0L));
    case TableFunction::gelu_tanh: {
      const long double pi = std::acos(-1.0L);
      return x / 2 * (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715L * x * x * x)));
    }
    case TableFunction::silu:
      return x / (1 + std::exp(-x));
    case TableFunction::tanh:
      return std::tanh(x);
    case TableFunction::sigmoid:
      return 1 / (1 + std::exp(-x));
    case TableFunction::hard_swish:
      return x * std::min(std::max(x + 3, 0.0L), 6.0L) / 6;
  }
  check(false, "a function of the table");
  return 0;
}

std::array<int8_t, 256> function_table(TableFunction f, const ElementScale& in,
                                       const ElementScale& out) {
  std::array<int8_t, 256> table{};
  for (size_t byte = 0; byte < table.size(); ++byte) {
    const auto x = static_cast<int8_t>(static_cast<uint8_t>(byte));
    const long double real = table_function(f, static_cast<long double>(in.scale) * (x - in.zero));
    // Far outside, so that the conversion to an integer is defined.
    const long double steps = std::clamp(real / out.scale, -1000.0L, 1000.0L);
    table[byte] = clip_byte(static_cast<int64_t>(std::round(steps)) + out.zero, -128, 127);
  }
  return table;
}

FixedScale mean_scale(int64_t length) {
  check(length >= 1 && length <= kRowElements, "1 to 65536 elements a row");
  const auto shift = static_cast<int32_t>(29 + std::bit_width(static_cast<uint64_t>(length)));
  const int64_t up = ((int64_t{1} << shift) + length - 1) / length;
  return {static_cast<int32_t>(up), shift};
}

int8_t reduce_row(const RowReduction& r, std::span<const int8_t> row) {
  check_row(row.size());
  int64_t sum = 0;
  for (const int8_t x : row) sum += x - r.input_zero;
  return clip_byte(round_shift(sum * r.scale.multiplier, r.scale.shift) + r.output_zero, -128, 127);
}

}  // namespace accsim::hw
