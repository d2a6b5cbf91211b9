#include <fmt/format.h>

#include <algorithm>

#include "hw/golden/machine.h"

namespace accsim::hw {
namespace {

template <size_t N>
int64_t strided_offset(const std::array<int64_t, N>& at, const std::array<int64_t, N>& stride) {
  int64_t sum = 0;
  for (size_t i = 0; i < N; ++i) sum += at[i] * stride[i];
  return sum;
}

}  // namespace

void GoldenMachine::execute(const SetTableCommand& c) {
  const int64_t offset = affine_value(c.parameter_offset);
  SlotRing& from = slot_ring(Buffer::parameter);
  if (has_failed() || !check_inside(offset, SetTableCommand::kBytes, from.slot_bytes(), "table"))
    return;
  const std::span<const uint8_t> slot = from.slot_to_read(poison_);
  Table& to = unit_table(c.unit);
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<int8_t>(slot[index(offset) + i]);
  retired_.address = offset;
  retired_.slot = from.consumer_slot();
  if (records_) retired_.bytes.assign(to.begin(), to.end());
}

// ---- lane commands ------------------------------------------------------------------------------

/// The slots that a lane command reads, and where its operands begin in them.
struct GoldenMachine::LaneSlots {
  std::span<const uint8_t> a, b;
  int64_t a_at = 0, b_at = 0, channels_at = 0, out_at = 0;
  int64_t out_end = 0;  ///< behind all results
};

bool GoldenMachine::operands(const LaneCommand& c, LaneSlots& s) {
  s.a_at = affine_value(c.a.offset);
  s.out_at = affine_value(c.slot_offset);
  if (c.b) s.b_at = affine_value(c.b->offset);
  if (c.weighs()) s.channels_at = affine_value(c.channel_offset);
  const int64_t rows = product_of(c.rows), elements = multiply_far(rows, c.run);
  if (has_failed()) return false;
  if (elements < 1 || elements > kMostElements || product_of(c.taps) < 1 || c.shift < 0 ||
      c.shift > 62 || !c.epilogue.has_limits() || c.epilogue.relu || c.epilogue.residual ||
      c.b.has_value() != row_of(c.op).has_b || c.a.buffer != Buffer::activation || c.a.splat ||
      (c.b && c.b->buffer != Buffer::activation && c.b->buffer != Buffer::parameter) ||
      (c.b && c.across && !c.b->splat) || !c.slides_well() ||
      (c.weighs() && (hw_.vector.mac_lanes < 1 || c.b->buffer != Buffer::parameter || c.b->splat ||
                      c.tap_op != TapOp::sum || product_of(c.taps) > LaneCommand::kMostWeighed))) {
    fail(Errc::invalid, fmt::format("a lane command of {} rows of {} bytes", rows, c.run));
    return false;
  }
  Reach a = reach_over(c.rows, c.a.row_stride);
  for (size_t i = 0; i < kTapLevels; ++i) a.add_index(c.taps[i], c.tap_stride[i]);
  const Reach out = reach_over(c.rows, c.out_stride);
  const int64_t run = c.across ? 1 : c.run;
  if (!inside(s.a_at, a, c.run, slot_ring(Buffer::activation), "first operand") ||
      !inside(s.out_at, out, run, slot_ring(Buffer::output), "output of the lane command"))
    return false;
  if (c.b) {
    Reach b = reach_over(c.rows, c.b->row_stride);
    const Reach channels{multiply_far(b.low, LaneCommand::kChannelBytes),
                         multiply_far(b.high, LaneCommand::kChannelBytes)};
    for (size_t i = 0; c.weighs() && i < kTapLevels; ++i)
      b.add_index(c.taps[i], c.weight_stride[i]);
    if (!inside(s.b_at, b, c.b->splat ? 1 : c.run, slot_ring(c.b->buffer), "second operand"))
      return false;
    if (c.weighs() && !inside(s.channels_at, channels, c.run * LaneCommand::kChannelBytes,
                              slot_ring(Buffer::parameter), "channels of the lane command"))
      return false;
  }
  s.out_end = s.out_at + out.high + run;
  s.a = slot_ring(Buffer::activation).slot_to_read(poison_);
  if (c.b)
    s.b = c.b->buffer == Buffer::activation ? s.a : slot_ring(c.b->buffer).slot_to_read(poison_);
  return true;
}

/// Element `element` of a row whose taps are weighed; fails when its channel shifts too far.
std::optional<int8_t> GoldenMachine::weighed(const LaneCommand& c, const LaneSlots& s,
                                             const std::array<int64_t, 4>& row, int64_t element) {
  const int64_t a_at = s.a_at + strided_offset(row, c.a.row_stride) + element;
  const int64_t channel = strided_offset(row, c.b->row_stride) + element;
  uint32_t sum = 0;
  for (int64_t outer = 0; outer < c.taps[0]; ++outer)
    for (int64_t inner = 0; inner < c.taps[1]; ++inner) {
      const int64_t a = a_at + strided_offset<2>({outer, inner}, c.tap_stride);
      const int64_t b = s.b_at + channel + strided_offset<2>({outer, inner}, c.weight_stride);
      sum += static_cast<uint32_t>((static_cast<int8_t>(s.a[index(a)]) - c.a.zero) *
                                   (static_cast<int8_t>(s.b[index(b)]) - c.b->zero));
    }
  const std::optional<Requantise> r =
      channel_parameters("lane command", s.b, s.channels_at, channel);
  if (!r) return std::nullopt;
  const int32_t y = requantise(static_cast<int32_t>(sum), *r, c.epilogue);
  return c.epilogue.table ? vector_table_[index(y + 128)] : static_cast<int8_t>(y);
}

/// Element `element` of a row; of all of the run when the command goes across.
int8_t GoldenMachine::compute_result(const LaneCommand& c, const LaneSlots& s,
                                     const std::array<int64_t, 4>& row, int64_t element) const {
  int64_t a = 0;
  bool first = true;
  const int64_t begin = c.across ? 0 : element, end = c.across ? c.run : element + 1;
  for (int64_t outer = 0; outer < c.taps[0]; ++outer)
    for (int64_t inner = 0; inner < c.taps[1]; ++inner)
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = s.a_at + strided_offset(row, c.a.row_stride) +
                           strided_offset<2>({outer, inner}, c.tap_stride) + i;
        const int64_t tap = static_cast<int8_t>(s.a[index(at)]) - c.a.zero;
        a = first                    ? tap
            : c.tap_op == TapOp::sum ? a + tap
            : c.tap_op == TapOp::min ? std::min(a, tap)
                                     : std::max(a, tap);
        first = false;
      }
  LaneTerms terms{.a = a, .b = 0, .scaled_a = a * c.a.multiplier, .scaled_b = 0};
  if (c.b) {
    const int64_t at = s.b_at + strided_offset(row, c.b->row_stride) + (c.b->splat ? 0 : element);
    terms.b = static_cast<int8_t>(s.b[index(at)]) - c.b->zero;
    terms.scaled_b = terms.b * c.b->multiplier;
  }
  const int64_t sum = row_of(c.op).combine(terms);
  const int32_t y = c.epilogue.clip_result(round_shift(sum, c.shift));
  return c.epilogue.table ? vector_table_[index(y + 128)] : static_cast<int8_t>(y);
}

void GoldenMachine::execute(const LaneCommand& c) {
  LaneSlots s;
  if (!operands(c, s)) return;
  SlotRing& out = slot_ring(Buffer::output);
  const std::span<uint8_t> to = out.slot_to_fill(poison_, s.out_end);
  retired_.address = s.out_at;
  retired_.slot = out.producer_slot();
  std::array<int64_t, 4> row{};
  for (int64_t n = 0; n < c.row_count(); ++n) {
    int64_t rest = n;
    for (size_t l = row.size(); l-- > 0; rest /= c.rows[l]) row[l] = rest % c.rows[l];
    const int64_t at = s.out_at + strided_offset(row, c.out_stride);
    for (int64_t i = 0; i < (c.across ? 1 : c.run); ++i) {
      const std::optional<int8_t> value =
          c.weighs() ? weighed(c, s, row, i) : compute_result(c, s, row, i);
      if (!value) return;
      const auto y = static_cast<uint8_t>(*value);
      to[index(at + i)] = y;
      if (records_) retired_.bytes.push_back(y);
    }
  }
}

void GoldenMachine::execute(const VectorCommand&) {
  fail(Errc::unsupported,
       "a vector command of operations is costed only: the golden machine doesn't know its values");
}

}  // namespace accsim::hw
