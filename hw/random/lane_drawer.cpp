#include "hw/random/lane_drawer.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "hw/program/contract.h"
#include "hw/program/reach.h"

namespace accsim::hw {
namespace {

/// Gives the operand the offset that keeps it within `room` bytes from `at`; false when it doesn't
/// fit.
bool place_operand(LaneOperand& o, Reach r, int64_t bytes, int64_t at, int64_t room) {
  o.offset = Affine(at - r.low);
  return r.high - r.low + bytes <= room;
}

}  // namespace

void RandomLanes::place_behind(const SlotRoom& by, int64_t channels_at) {
  command.a.offset += Affine(by.in);
  if (command.b) {
    const bool parameter = command.b->buffer == Buffer::parameter;
    command.b->offset += Affine(parameter ? by.parameters : by.in);
  }
  if (command.weighs()) command.channel_offset += Affine(channels_at);
  command.slot_offset += Affine(by.out);
}

template <size_t N>
void LaneDrawer::draw_strides(std::array<int64_t, N>& strides, int64_t run) const {
  for (int64_t& s : strides) {
    const int64_t kind = dice_.pick(0, 5);
    s = kind == 0 ? 0 : kind == 1 ? -dice_.pick(1, run) : kind == 2 ? run : dice_.pick(1, 2 * run);
  }
}

/// Rows whose windows overlap.
void LaneDrawer::draw_slide(LaneCommand& c) const {
  c.taps = {dice_.pick(2, dice_.one_in(2) ? 3 : LaneCommand::kMostColumns),
            dice_.pick(1, dice_.one_in(4) ? 9 : 3)};
  c.slide = dice_.pick(1, dice_.one_in(2) ? 1 : c.taps[0] - 1);
  if (dice_.one_in(2)) c.rows.back() = dice_.pick(1, 9);
  c.a.row_stride.back() = c.slide * c.tap_stride[0];
}

/// A weight for each tap; rows of the same channels, or of others.
void LaneDrawer::draw_weights(LaneCommand& c) const {
  c.tap_op = TapOp::sum;
  c.across = false;
  c.b.emplace().buffer = Buffer::parameter;
  if (dice_.one_in(2))
    for (int64_t& n : c.taps) n = dice_.pick(1, 4);
  for (int64_t& s : c.b->row_stride)
    s = dice_.one_in(2) ? 0 : dice_.one_in(3) ? -dice_.pick(1, c.run) : dice_.pick(1, c.run);
  draw_strides(c.weight_stride, c.run);
  if (dice_.one_in(2)) c.weight_stride = {c.taps[1] * c.run, c.run};
}

/// What a command that weighs its taps has of its own; its channels have the rest.
void LaneDrawer::draw_zeros(LaneCommand& c) const {
  c.a.zero = dice_.zero_point();
  c.b->zero = dice_.one_in(2) ? 0 : dice_.zero_point();
  c.epilogue.zero = dice_.one_in(6) ? dice_.number(-1000, 1000) : dice_.zero_point();
  std::tie(c.epilogue.low, c.epilogue.high) = dice_.pick_limits(INT8_MAX);
}

void LaneDrawer::draw_scales(LaneCommand& c) const {
  for (LaneOperand* o : {&c.a, c.b ? &*c.b : nullptr})
    if (o) {
      o->zero = dice_.zero_point();
      o->multiplier =
          dice_.one_in(8) ? dice_.number(INT16_MIN, INT16_MAX) : dice_.number(1 << 12, INT16_MAX);
    }
  const int64_t taps = c.tap_count() * (c.across ? c.run : 1);
  int64_t shift = row_of(c.op).multiplies ? 21 : 14;
  for (int64_t n = c.tap_op == TapOp::sum ? taps : 1; n > 1; n /= 2) ++shift;
  c.shift = static_cast<int32_t>(dice_.one_in(8) ? dice_.pick(0, 62) : shift + dice_.pick(-1, 2));
  c.epilogue.zero = dice_.one_in(6) ? dice_.number(-1000, 1000) : dice_.zero_point();
  std::tie(c.epilogue.low, c.epilogue.high) = dice_.pick_limits(INT8_MAX);
}

/// Rows of the output one behind the other, the levels in any order.
void LaneDrawer::draw_output(LaneCommand& c) const {
  std::array<size_t, kLaneLevels> order{0, 1, 2, 3};
  std::shuffle(order.begin(), order.end(), dice_.generator());
  int64_t step = c.across ? 1 : c.run;
  for (const size_t level : order) {
    c.out_stride[level] = step;
    step *= c.rows[level];
  }
}

LaneCommand LaneDrawer::draw_command() const {
  LaneCommand c;
  const auto plain = std::ranges::count(kLaneOpRows, false, &LaneOpRow::weighs);
  const auto ops = hw_.vector.mac_lanes > 0 ? std::ssize(kLaneOpRows) : plain;
  c.op = static_cast<LaneOp>(dice_.pick(0, ops - 1));
  c.tap_op = static_cast<TapOp>(dice_.pick(0, kTapOps - 1));
  for (int64_t& n : c.rows) n = dice_.one_in(2) ? 1 : dice_.pick(1, 4);
  if (dice_.one_in(3))
    for (int64_t& n : c.taps) n = dice_.pick(1, dice_.one_in(3) ? 14 : 3);
  c.across = dice_.one_in(4);
  c.run = dice_.pick(1, dice_.one_in(c.across ? 2 : 3) ? 150 : 30);
  draw_strides(c.a.row_stride, c.run);
  draw_strides(c.tap_stride, c.run);
  if (!row_of(c.op).has_b && !c.across && dice_.one_in(2)) draw_slide(c);
  if (c.weighs()) {
    draw_weights(c);
    draw_zeros(c);
    draw_output(c);
    return c;
  }
  if (row_of(c.op).has_b) {
    c.b.emplace();
    c.b->buffer = dice_.one_in(3) ? Buffer::parameter : Buffer::activation;
    c.b->splat = c.across || dice_.one_in(3);
    draw_strides(c.b->row_stride, c.run);
  }
  draw_scales(c);
  draw_output(c);
  return c;
}

std::optional<RandomLanes> LaneDrawer::draw_lanes(const SlotRoom& room) const {
  RandomLanes out{draw_command(), {}};
  LaneCommand& c = out.command;
  out.room.out = c.out_bytes();
  if (out.room.out > room.out) return std::nullopt;
  if (contract::lane_beat(c, hw_) < 1) return std::nullopt;
  const Reach rows = reach_over(c.rows, c.a.row_stride), taps = reach_over(c.taps, c.tap_stride);
  const Reach both{rows.low + taps.low, rows.high + taps.high};
  if (!place_operand(c.a, both, c.run, 0, room.in)) return std::nullopt;
  out.room.in = both.high - both.low + c.run;
  if (!c.b) return out;
  Reach other = reach_over(c.rows, c.b->row_stride);
  if (c.weighs()) {
    out.channels = other.high - other.low + c.run;
    c.channel_offset = Affine(-other.low * LaneCommand::kChannelBytes);
    const Reach weights = reach_over(c.taps, c.weight_stride);
    other = {other.low + weights.low, other.high + weights.high};
  }
  const int64_t bytes = c.b->splat ? 1 : c.run, span = other.high - other.low + bytes;
  const bool parameter = c.b->buffer == Buffer::parameter;
  if (!place_operand(*c.b, other, bytes, parameter ? 0 : out.room.in,
                     parameter ? room.parameters : room.in - out.room.in))
    return std::nullopt;
  (parameter ? out.room.parameters : out.room.in) += span;
  return out;
}

}  // namespace accsim::hw
