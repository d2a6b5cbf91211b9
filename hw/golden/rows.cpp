#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "hw/golden/machine.h"
#include "hw/golden/row_math.h"

namespace accsim::hw {
namespace {

using RowIndex = std::array<int64_t, kLaneLevels>;

/// Where a row begins, relative to the first.
int64_t row_at(const RowIndex& row, const RowIndex& stride) {
  int64_t sum = 0;
  for (size_t i = 0; i < row.size(); ++i) sum += row[i] * stride[i];
  return sum;
}

int32_t word_at(std::span<const uint8_t> slot, int64_t at) {
  int32_t out = 0;
  std::memcpy(&out, &slot[index(at)], sizeof out);
  return out;
}

bool is_sound(const std::optional<RowLogarithm>& l) {
  constexpr int64_t kMost = int64_t{1} << 60;
  return !l || (l->row_multiplier >= 0 && l->sum_multiplier >= 0 && l->shift >= 0 &&
                l->shift <= 62 && l->addend >= -kMost && l->addend <= kMost);
}

bool is_sound(const RowCommand& c) {
  if (c.pieces < 1 || c.run < 1 || c.pieces > kRowElements || c.run > kRowElements ||
      c.length() > kRowElements)
    return false;
  const int64_t elements = multiply_far(product_of(c.rows), c.length());
  if (elements < 1 || elements > kMostElements) return false;
  if (c.op == RowOp::softmax)
    return is_sound(c.logarithm) && c.per_channel == 1 && c.difference_shift >= 0 &&
           c.difference_shift <= 15 && c.numerator >= 1 << 30 && c.exponent >= 0 &&
           c.exponent <= 16 && c.row_multiplier >= 0 && c.row_multiplier <= UINT16_MAX &&
           c.mask_multiplier >= 0 && c.mask_multiplier <= UINT16_MAX &&
           c.epilogue == Epilogue{.zero = c.epilogue.zero};
  return !c.mask && !c.logarithm && c.per_channel >= 1 && c.run % c.per_channel == 0 &&
         c.unit_bits == norm_unit_bits(c.length()) && c.epsilon >= 0 &&
         c.epsilon <= int64_t{1} << 62 && c.epilogue.has_limits() && !c.epilogue.relu &&
         !c.epilogue.table && !c.epilogue.residual;
}

}  // namespace

/// The slots that a row command reads, and where its operands begin in them.
struct GoldenMachine::RowSlots {
  std::span<const uint8_t> in, parameters;
  int64_t in_at = 0, mask_at = 0, parameter_at = 0, out_at = 0, logarithm_at = 0;
  int64_t out_end = 0;  ///< behind all results
  SoftmaxTables tables;
};

bool GoldenMachine::operands(const RowCommand& c, RowSlots& s) {
  s.in_at = affine_value(c.in.offset);
  if (c.mask) s.mask_at = affine_value(c.mask->offset);
  s.parameter_at = affine_value(c.parameter_offset);
  s.out_at = affine_value(c.out.offset);
  if (c.logarithm) s.logarithm_at = affine_value(c.logarithm->offset);
  if (has_failed()) return false;
  if (!is_sound(c)) {
    fail(Errc::invalid, fmt::format("{} of {} rows of {} elements", name(c.op), product_of(c.rows),
                                    multiply_far(c.pieces, c.run)));
    return false;
  }
  const auto all = [&](const RowOperand& o) {
    return reach_over(c.rows, o.row_stride).add_index(c.pieces, o.piece_stride);
  };
  const bool softmax = c.op == RowOp::softmax;
  const Reach channels = softmax ? Reach{} : reach_over(c.rows, c.parameter_stride);
  const SlotRing& slots = slot_ring(Buffer::activation);
  if (!inside(s.in_at, all(c.in), c.run, slots, "rows") ||
      (c.mask && !inside(s.mask_at, all(*c.mask), c.run, slots, "mask")) ||
      !inside(s.out_at, all(c.out), c.run, slot_ring(Buffer::output), "output of the rows") ||
      (c.logarithm &&
       !inside(s.logarithm_at, {}, c.row_count(), slot_ring(Buffer::output), "logarithms")) ||
      !inside(s.parameter_at, channels,
              softmax ? RowCommand::kTableBytes : c.channels() * RowCommand::kChannelBytes,
              slot_ring(Buffer::parameter), "parameters of the rows"))
    return false;
  s.out_end = s.out_at + all(c.out).high + c.run;
  if (c.logarithm) s.out_end = std::max(s.out_end, s.logarithm_at + c.row_count());
  s.in = slot_ring(Buffer::activation).slot_to_read(poison_);
  s.parameters = slot_ring(Buffer::parameter).slot_to_read(poison_);
  if (!softmax) return true;
  s.tables = {c.row_multiplier, c.mask_multiplier, c.difference_shift, {}, {},
              c.numerator,      c.exponent,        c.epilogue.zero};
  bool good = true;
  for (size_t i = 0; i < 2 * kSoftmaxDigit; ++i) {
    const int32_t word = word_at(s.parameters, s.parameter_at + 4 * static_cast<int64_t>(i));
    good = good && word >= 0 && word <= 1 << 30 && (i % kSoftmaxDigit != 0 || word == 1 << 30);
    (i < kSoftmaxDigit ? s.tables.coarse : s.tables.fine)[i % kSoftmaxDigit] = word;
  }
  if (!good) fail(Errc::invalid, "tables of a softmax that don't begin with 2^30, or have more");
  return good;
}

std::optional<std::vector<int8_t>> GoldenMachine::compute_result(const RowCommand& c,
                                                                 const RowSlots& s,
                                                                 const RowIndex& row) {
  const auto elements = [&](const RowOperand& o, int64_t first) {
    std::vector<int8_t> out;
    for (int64_t p = 0; p < c.pieces; ++p)
      for (int64_t e = 0; e < c.run; ++e)
        out.push_back(static_cast<int8_t>(
            s.in[index(first + row_at(row, o.row_stride) + p * o.piece_stride + e)]));
    return out;
  };
  std::vector<int8_t> in = elements(c.in, s.in_at), out(in.size());
  if (c.op == RowOp::softmax) {
    const SoftmaxSum sum = softmax_row(
        s.tables, in, c.mask ? elements(*c.mask, s.mask_at) : std::vector<int8_t>(), out);
    if (c.logarithm) out.push_back(softmax_log_value(*c.logarithm, sum));
    return out;
  }
  std::vector<NormChannel> channels;  // of every element
  for (int64_t i = 0; i < c.length(); ++i) {
    const int64_t at = s.parameter_at + row_at(row, c.parameter_stride) +
                       i % c.run / c.per_channel * RowCommand::kChannelBytes;
    channels.push_back(unpack_channel({word_at(s.parameters, at), word_at(s.parameters, at + 4)}));
    if (channels.back().shift > 62) {
      fail(Errc::invalid, fmt::format("a channel shifts by {}", channels.back().shift));
      return std::nullopt;
    }
  }
  norm_row({c.op == RowOp::layer_norm, c.input_zero, c.unit_bits, c.epsilon, c.epilogue.zero,
            c.epilogue.low, c.epilogue.high},
           in, channels, 1, out);
  return out;
}

void GoldenMachine::execute(const RowCommand& c) {
  RowSlots s;
  if (!operands(c, s)) return;
  SlotRing& out = slot_ring(Buffer::output);
  const std::span<uint8_t> to = out.slot_to_fill(poison_, s.out_end);
  retired_.address = s.out_at;
  retired_.slot = out.producer_slot();
  RowIndex row{};
  for (int64_t n = 0; n < c.row_count(); ++n) {
    int64_t rest = n;
    for (size_t l = row.size(); l-- > 0; rest /= c.rows[l]) row[l] = rest % c.rows[l];
    const auto values = compute_result(c, s, row);
    if (!values) return;
    const auto put = [&](int64_t at, int64_t i) {
      const auto y = static_cast<uint8_t>((*values)[index(i)]);
      to[index(at)] = y;
      if (records_) retired_.bytes.push_back(y);
    };
    for (int64_t i = 0; i < c.length(); ++i)
      put(s.out_at + row_at(row, c.out.row_stride) + i / c.run * c.out.piece_stride + i % c.run, i);
    if (c.logarithm) put(s.logarithm_at + n, c.length());
  }
}

}  // namespace accsim::hw
