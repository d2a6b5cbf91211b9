#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "hw/golden/golden.h"
#include "sim/base/result.h"

namespace accsim::hw {

/// The vector unit's row operations on int8 elements, bit by bit: docs/vector-arithmetic.md is the
/// contract, with every width and the bounds of the errors. What works on elements is integer and
/// defined for all inputs named; floating point is only in the functions that make constants.
inline constexpr int64_t kRowElements = RowCommand::kElements;  ///< the longest row

/// floor(numerator * 2^31 / divisor). numerator 2^30 .. 2^31 - 1, divisor 2^31 .. 2^32 - 1; the
/// result is in 2^29 .. 2^31 - 1.
int32_t row_reciprocal(int32_t numerator, uint32_t divisor);
/// floor(sqrt(value)).
uint32_t row_root(uint64_t value);

/// multiplier / 2^shift, as PostCommand has it.
struct FixedScale {
  int32_t multiplier = 0, shift = 0;  ///< shift: 0 .. 62
};
/// The nearest FixedScale with a multiplier of so many bits and a sign; below 2^(bits - 63), where
/// 62 is the shift, one of fewer. Errc::invalid unless |real| <= 2^bits - 1.
Result<FixedScale> fixed_scale(double real, int32_t bits = 31);

/// real = scale * (element - zero).
struct ElementScale {
  double scale = 1;
  int32_t zero = 0;
};

// ---- softmax ------------------------------------------------------------------------------------

/// What a softmax is of: exp(input * x + mask * m), over its sum.
struct SoftmaxScales {
  double input = 1;                        ///< > 0; with the factor of the scores, if there is one
  double mask = 0;                         ///< of the mask's elements; 0: there is no mask
  ElementScale output{1.0 / 256.0, -128};  ///< scale in 2^-16 .. 1
};

inline constexpr size_t kSoftmaxDigit = 64;
inline constexpr int32_t kSoftmaxGone = 4096;  ///< the difference from which a term is 0

/// Constants of one softmax command. 1 is 2^30 in the tables.
struct SoftmaxTables {
  int32_t row_multiplier = 1, mask_multiplier = 0;  ///< 0 .. 65535
  int32_t difference_shift = 0;                     ///< 0 .. 15
  std::array<int32_t, kSoftmaxDigit> coarse{};      ///< exp of -64, -128, ... units
  std::array<int32_t, kSoftmaxDigit> fine{};        ///< exp of -1, -2, ... units
  int32_t numerator = 0;                            ///< 2^30 .. 2^31 - 1: 1 / output scale ...
  int32_t exponent = 0;                             ///< ... is numerator / 2^(30 - exponent)
  int32_t output_zero = -128;
};
/// Errc::invalid for scales that aren't positive, for a step of more than about 360 nats where
/// there is a mask, and for an output scale out of its range.
Result<SoftmaxTables> softmax_tables(const SoftmaxScales& scales);

/// One element and its mask before the difference is taken: |result| < 2^24.
int32_t softmax_logit(const SoftmaxTables& t, int8_t x, int8_t mask);
/// How far a logit is below the maximum, in units of the tables; at most kSoftmaxGone.
int32_t softmax_difference(const SoftmaxTables& t, int32_t maximum, int32_t logit);
/// The exponential of a difference: 0 .. 2^30, and 2^30 for 0.
int32_t softmax_term(const SoftmaxTables& t, int32_t difference);

/// What a row's terms are multiplied by: reciprocal / 2^shift.
struct SoftmaxFactor {
  int32_t reciprocal = 0;  ///< 2^29 .. 2^31 - 1
  int32_t shift = 0;       ///< 44 .. 62
};
/// sum: of a row's terms, 2^30 .. 2^46.
SoftmaxFactor softmax_factor(const SoftmaxTables& t, int64_t sum);
/// The output for a difference.
int8_t softmax_value(const SoftmaxTables& t, const SoftmaxFactor& f, int32_t difference);

/// Of a row: its greatest logit, and the sum of its terms.
struct SoftmaxSum {
  int32_t maximum = 0;
  int64_t terms = 0;  ///< 2^30 .. 2^46
};
/// A whole row of 1 .. kRowElements elements; `mask` is as long, or empty. `out` may be `row`.
SoftmaxSum softmax_row(const SoftmaxTables& t, std::span<const int8_t> row,
                       std::span<const int8_t> mask, std::span<int8_t> out);

/// The logarithm of the sums of a softmax of these scales, in this scale. A row's is round((maximum
/// * row_multiplier + log2 * sum_multiplier + addend) / 2^shift), with log2 of its sum in 2^-16.
/// Errc::invalid as for softmax_tables(), and for a scale so small that no multiplier holds it.
Result<RowLogarithm> softmax_log(const SoftmaxScales& scales, const ElementScale& out);
/// 2^16 log2(terms / 2^30): 0 .. 2^20, by a table of 64 pieces and lines between them.
int32_t row_log2(int64_t terms);
/// The logarithm of a row.
int8_t softmax_log_value(const RowLogarithm& l, const SoftmaxSum& row);

// ---- normalisation ------------------------------------------------------------------------------

/// Constants of one normalisation command: LayerNorm, GroupNorm and InstanceNorm are centred,
/// RMSNorm isn't.
struct NormConstants {
  bool centred = true;
  int32_t input_zero = 0;   ///< -128 .. 127; of no consequence when centred
  int32_t unit_bits = 22;   ///< norm_unit_bits()
  int64_t epsilon = 0;      ///< 0 .. 2^62; norm_epsilon()
  int32_t output_zero = 0;  ///< -128 .. 127
  int32_t low = -128, high = 127;
};
/// Scale and shift of one channel.
struct NormChannel {
  int32_t beta = 0;        ///< in 2^-20 output steps
  int32_t multiplier = 0;  ///< 26 bits with the sign: -2^25 .. 2^25 - 1
  int32_t shift = 0;       ///< 0 .. 62
  friend bool operator==(const NormChannel&, const NormChannel&) = default;
};
/// The words of a channel in a parameter slot, RowCommand::kChannelBytes as little-endian.
using NormWords = std::array<int32_t, 2>;
/// As a parameter slot has them.
NormWords pack_channel(const NormChannel& channel);
/// The channel that has these words; its shift may be 63, which no command may have.
NormChannel unpack_channel(const NormWords& words);
/// Fraction bits of a normalised element, which is at most sqrt(length): 22 .. 30, such that it
/// takes 31 bits and a sign. length: 1 .. kRowElements.
int32_t norm_unit_bits(int64_t length);
/// round(epsilon * (length / input_scale)^2 * 2^14); Errc::invalid when that is more than 2^62 or
/// something is negative.
Result<int64_t> norm_epsilon(double epsilon, double input_scale, int64_t length);
/// Errc::invalid when beta is 2048 output steps or more, or gamma 2^(5 + unit_bits).
Result<NormChannel> norm_channel(double gamma, double beta, double output_scale, int32_t unit_bits);

/// Sums over a row of x - input_zero and of its square.
struct RowSums {
  int32_t sum = 0;       ///< |sum| < 2^24
  uint32_t squares = 0;  ///< < 2^32
};
/// The sums of a row of 1 .. kRowElements elements.
RowSums norm_sums(const NormConstants& n, std::span<const int8_t> row);

/// What a row's sums come to: (length * (x - input_zero) - offset) * reciprocal / 2^shift is x,
/// normalised, in 2^-unit_bits.
struct NormFactor {
  int32_t offset = 0;
  int32_t reciprocal = 0;  ///< 2^29 .. 2^30
  int32_t shift = 0;       ///< 0 .. 32
};
/// `sums` are of a row of `length` elements.
NormFactor norm_factor(const NormConstants& n, const RowSums& sums, int64_t length);
/// x normalised, in 2^-unit_bits: |result| <= 2^30.
int32_t norm_unit(const NormConstants& n, const NormFactor& f, int64_t length, int8_t x);
/// The output of a normalised value.
int8_t norm_value(const NormConstants& n, const NormChannel& c, int32_t unit);

/// A whole row of 1 .. kRowElements elements; element i is of channels[i / per_channel]. `out` may
/// be `row`.
void norm_row(const NormConstants& n, std::span<const int8_t> row,
              std::span<const NormChannel> channels, int64_t per_channel, std::span<int8_t> out);

// ---- tables and reductions ----------------------------------------------------------------------

/// Functions of one element that a table of 256 bytes holds; gelu by the error function, gelu_tanh
/// by its usual approximation.
enum class TableFunction : uint8_t { gelu, gelu_tanh, silu, tanh, sigmoid, hard_swish };
/// The function of a real number, as exactly as the platform's long double has it.
long double table_function(TableFunction f, long double x);
/// y by x's byte (-1 is at 255): the nearest output element to the function, halves away from the
/// zero point. Scales are positive.
std::array<int8_t, 256> function_table(TableFunction f, const ElementScale& in,
                                       const ElementScale& out);

/// Sum or mean of a row: clip(round((sum - length * input_zero) * scale) + output_zero).
struct RowReduction {
  FixedScale scale;
  int32_t input_zero = 0, output_zero = 0;  ///< -128 .. 127
};
/// 1 / length, rounded up so that the mean of up to kRowElements elements is exact: the nearest
/// integer to it, halves away from zero. length: 1 .. kRowElements.
FixedScale mean_scale(int64_t length);
/// The reduction of a row of 1 .. kRowElements elements.
int8_t reduce_row(const RowReduction& r, std::span<const int8_t> row);

}  // namespace accsim::hw
