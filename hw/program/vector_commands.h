#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/config/hw_config.h"
#include "hw/program/epilogue.h"
#include "hw/program/walk.h"

namespace accsim::hw {

/// What the vector unit runs: commands of lanes, of rows, and of operations that are only counted.

/// What a LaneCommand does with its operands. kLaneOpRows says the rest of each.
enum class LaneOp : uint8_t { copy, add, sub, mul, min, max, mac };
inline constexpr size_t kLaneOps = 7;
/// The A and B of a LaneCommand, and each times its multiplier.
struct LaneTerms {
  int64_t a, b, scaled_a, scaled_b;
};
/// All that is known of a LaneOp; its opcode is its place in the table.
struct LaneOpRow {
  std::string_view name;  ///< as printed programs spell it, and lane_op_e behind "Lane"
  /// The s of a LaneCommand, exact in 64 bits; none of what weighs.
  int64_t (*combine)(const LaneTerms&);
  bool has_b = true;        ///< takes a second operand
  bool weighs = false;      ///< ... which has a weight for each tap
  bool multiplies = false;  ///< ... which has no multiplier of its own
};
/// By LaneOp, in the order of lane_op_e in rtl/accsim_pkg.sv. Those that weigh taps are the last.
inline constexpr std::array<LaneOpRow, kLaneOps> kLaneOpRows = {{
    {"copy", [](const LaneTerms& t) { return t.scaled_a; }, false},
    {"add", [](const LaneTerms& t) { return t.scaled_a + t.scaled_b; }},
    {"sub", [](const LaneTerms& t) { return t.scaled_a - t.scaled_b; }},
    {"mul", [](const LaneTerms& t) { return t.scaled_a * t.b; }, true, false, true},
    {"min", [](const LaneTerms& t) { return std::min(t.scaled_a, t.scaled_b); }},
    {"max", [](const LaneTerms& t) { return std::max(t.scaled_a, t.scaled_b); }},
    {"mac", nullptr, true, true},
}};
/// What the table says of an operation.
constexpr const LaneOpRow& row_of(LaneOp op) { return kLaneOpRows[static_cast<size_t>(op)]; }
/// How a LaneCommand puts the taps of its first operand together.
enum class TapOp : uint8_t { sum, min, max };
inline constexpr size_t kTapOps = 3;
/// As printed programs spell it: "sum", "min", "max".
std::string_view name(TapOp op);

inline constexpr size_t kLaneLevels = 4;  ///< of the rows of a LaneCommand
inline constexpr size_t kTapLevels = 2;   ///< of its taps

/// Where an operand of a LaneCommand lies in its slot, and what its int8 values mean.
struct LaneOperand {
  Buffer buffer = Buffer::activation;             ///< or parameter, of the second operand
  Affine offset;                                  ///< byte offset in the slot of the first row
  std::array<int64_t, kLaneLevels> row_stride{};  ///< bytes; 0: the same again (broadcast)
  bool splat = false;      ///< one byte for all of a run (broadcast along it)
  int32_t zero = 0;        ///< -128 .. 127
  int32_t multiplier = 1;  ///< -32768 .. 32767
};

/// Slots -> vector unit -> output slot, int8 by int8: table, arithmetic, pooling and reduction. A
/// row (of a nest of counts, outermost first) is a run of `run` bytes; each of its elements is put
/// together from the taps of `a`, bytes at `tap_stride` from one another:
///   A = sum, min or max over the taps of (a - a.zero)      (32 bits, `across`: over the run too)
///   B = b - b.zero
///   s = A * a.multiplier                                   copy
///       A * a.multiplier +- B * b.multiplier               add, sub
///       A * B * a.multiplier                               mul
///       min, max (A * a.multiplier, B * b.multiplier)      min, max
///   y = what the epilogue makes of round(s / 2^shift)
/// in 64 bits, halves away from zero. Row i goes to slot_offset + sum of index * out_stride,
/// `across`: as one byte.
///
/// Rows whose windows overlap may be walked column by column (`slide`): a column is the inner taps
/// at an outer one; a row of the innermost level begins `slide` columns behind the one before it,
/// keeps the columns that both have, and takes but the others. It is a copy with 2 .. kMostColumns
/// outer taps, more than `slide`, of at most kMostKept taps in all, not across, and
/// a.row_stride[3] = slide * tap_stride[0]. Values are those of the same command without it.
///
/// mac weighs the taps, each with a byte of b in the parameter slot:
///   A = sum over the taps of (a - a.zero) * (weight - b.zero)
///   y = what the epilogue makes of round((A + bias) * multiplier / 2^shift)
/// as a post does, with bias, multiplier and shift of the element's channel, kChannelBytes of the
/// parameter slot. Channel n is at channel_offset + n * kChannelBytes; n is the element's index in
/// the run + the row's index times b.row_stride. The weight of a tap is at b.offset + n + the tap's
/// index times weight_stride. It has at most kMostWeighed taps, goes neither across nor slides, and
/// has no factors of its own: multipliers are 1, and its shift is 0.
struct LaneCommand {
  static constexpr int64_t kMostColumns = 8;
  static constexpr int64_t kMostKept = 2048;
  static constexpr int64_t kMostWeighed = 1 << 15;  ///< 255 * 255 times it is within 31 bits
  static constexpr int64_t kChannelBytes = 12;
  LaneOp op = LaneOp::copy;
  std::array<int64_t, kLaneLevels> rows{1, 1, 1, 1};
  int64_t run = 0;  ///< bytes of a row
  TapOp tap_op = TapOp::sum;
  std::array<int64_t, kTapLevels> taps{1, 1};    ///< outer, inner; at most 2^20 (with the run)
  std::array<int64_t, kTapLevels> tap_stride{};  ///< bytes
  bool across = false;                           ///< reduces the run: one byte a row
  int64_t slide = 0;  ///< columns that a row doesn't share with the one before; 0: takes all taps
  LaneOperand a;
  std::optional<LaneOperand> b = std::nullopt;
  std::array<int64_t, kTapLevels> weight_stride{};  ///< bytes, of a mac
  Affine channel_offset{};                          ///< in the parameter slot, of a mac
  int64_t macs = 0;  ///< of a mac: those of its op, with the taps in the padding that it leaves out
  Affine slot_offset;                             ///< in the output slot
  std::array<int64_t, kLaneLevels> out_stride{};  ///< bytes
  int32_t shift = 0;                              ///< 0 .. 62
  Epilogue epilogue{};

  int64_t row_count() const { return rows[0] * rows[1] * rows[2] * rows[3]; }
  int64_t tap_count() const { return taps[0] * taps[1]; }
  bool weighs() const { return row_of(op).weighs; }
  /// Taps that are taken for all rows, each of `run` bytes.
  int64_t taps_taken() const {
    if (slide == 0) return row_count() * tap_count();
    return row_count() / rows[3] * (taps[0] + (rows[3] - 1) * slide) * taps[1];
  }
  /// Times that a column of a row is put together with the columns before it.
  int64_t columns_joined() const { return slide == 0 ? 0 : taps_taken() / taps[1] * (taps[0] - 1); }
  /// Is `slide` 0, or as it has to be?
  bool slides_well() const;
  int64_t out_bytes() const { return across ? row_count() : row_count() * run; }
};
/// The class of lanes that a LaneCommand takes, an index of kLaneClassNames: elementwise, pool with
/// taps, reduce across.
size_t lane_class(const LaneCommand& c);
/// Those lanes; of a command that weighs its taps the ones that can.
int64_t lanes_of(const LaneCommand& c, const HwConfig& hw);

/// What a RowCommand does with a row.
enum class RowOp : uint8_t { softmax, layer_norm, rms_norm };
inline constexpr size_t kRowOps = 3;
/// As printed programs spell it: "softmax", "layer_norm", "rms_norm".
std::string_view name(RowOp op);

/// Where the rows of a RowCommand, or of its mask, lie in the activation slot.
struct RowOperand {
  Affine offset;                                  ///< byte offset of the first row
  std::array<int64_t, kLaneLevels> row_stride{};  ///< bytes; 0: the same again
  int64_t piece_stride = 0;                       ///< bytes from a piece of a row to the next
};

/// The second result of a softmax: the logarithm of each row's sum of exponentials, an element.
struct RowLogarithm {
  Affine offset;  ///< in the output slot; row i, in the order of its nest, has byte i from there on
  // The constants mu, ml, shift and add of docs/vector-arithmetic.md.
  int32_t row_multiplier = 0, sum_multiplier = 0;  ///< 0 .. 2^31 - 1
  int32_t shift = 0;                               ///< 0 .. 62
  int64_t addend = 0;                              ///< -2^60 .. 2^60
};

/// Softmax or normalisation of int8 rows: activation slot -> vector unit -> output slot, by the
/// arithmetic of docs/vector-arithmetic.md. A row (of a nest of counts, outermost first) is
/// `pieces` pieces of `run` contiguous bytes each, one behind the other as elements; at most
/// kElements. A softmax' tables lie in the parameter slot, kTableBytes from parameter_offset on: 64
/// words coarse, 64 words fine, little-endian int32, each 0 .. 2^30 and the first of both 2^30. A
/// normalisation has kChannelBytes of parameters a channel: two words, beta, and above a multiplier
/// of 26 bits with a sign a shift of 6; element e of every piece is of channel e / per_channel,
/// channels of a row at parameter_offset + the row's index times parameter_stride. run is a
/// multiple of per_channel.
struct RowCommand {
  static constexpr int64_t kElements = 65536;  ///< the longest row
  static constexpr int64_t kTableBytes = 512;  ///< of a softmax
  static constexpr int64_t kChannelBytes = 8;  ///< of a normalisation
  RowOp op = RowOp::softmax;
  std::array<int64_t, kLaneLevels> rows{1, 1, 1, 1};
  int64_t pieces = 1;
  int64_t run = 0;
  RowOperand in;
  std::optional<RowOperand> mask = std::nullopt;  ///< softmax: an addend of its own scale
  Affine parameter_offset;
  std::array<int64_t, kLaneLevels> parameter_stride{};
  int64_t per_channel = 1;
  RowOperand out;  ///< in the output slot
  // Softmax: SoftmaxTables' constants of these names.
  int32_t row_multiplier = 1, mask_multiplier = 0, difference_shift = 0, numerator = 0;
  int32_t exponent = 0;
  std::optional<RowLogarithm> logarithm = std::nullopt;
  // Normalisation: NormConstants' constants of these names.
  int32_t input_zero = 0, unit_bits = 22;
  int64_t epsilon = 0;
  Epilogue epilogue{};

  int64_t row_count() const { return rows[0] * rows[1] * rows[2] * rows[3]; }
  int64_t length() const { return pieces * run; }  ///< elements of a row
  /// Channels of a piece; a softmax has none.
  int64_t channels() const { return op == RowOp::softmax ? 0 : run / per_channel; }
  /// Elements that follow one another in memory and, where a channel has several, are of one.
  int64_t contiguous_elements() const {
    return op != RowOp::softmax && per_channel > 1 ? per_channel : run;
  }
};

/// Activation slot -> vector unit -> output slot, in operations only: what no other command covers.
/// Costed; golden and RTL don't know it.
struct VectorCommand {
  std::array<int64_t, kLaneClasses> ops{};  ///< lane operations by class
  int64_t in_bytes = 0, out_bytes = 0;
};

}  // namespace accsim::hw
