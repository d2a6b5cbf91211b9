#include "hw/random/random_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "hw/golden/row_math.h"
#include "hw/program/contract.h"
#include "hw/program/reach.h"
#include "hw/random/dice.h"

namespace accsim::hw {
namespace {

constexpr int64_t kMultiplier = 1 << 25;  // a channel's is -kMultiplier .. kMultiplier - 1

class RowDraws {
 public:
  explicit RowDraws(Dice dice) : dice_(dice) {}

  /// 2^(a uniform number), so that all sizes of scales come.
  double any_scale(double low, double high) {
    return std::exp2(std::uniform_real_distribution<double>(low, high)(dice_.generator()));
  }

  RowCommand draw_shape() {
    RowCommand c;
    c.op = static_cast<RowOp>(dice_.pick(0, kRowOps - 1));
    for (int64_t& n : c.rows) n = dice_.one_in(2) ? 1 : dice_.pick(1, 3);
    if (dice_.one_in(6)) c.rows[static_cast<size_t>(dice_.pick(0, 3))] = dice_.pick(4, 20);
    if (dice_.one_in(3)) c.pieces = dice_.pick(2, 5);
    c.run = dice_.one_in(8) ? 1 : dice_.pick(1, dice_.one_in(4) ? 400 : dice_.one_in(3) ? 100 : 20);
    if (c.op == RowOp::softmax) {
      if (dice_.one_in(2)) c.mask.emplace();
      if (dice_.one_in(2)) c.logarithm.emplace();
    } else if (dice_.one_in(3)) {
      c.per_channel = dice_.pick(1, 9);
      c.run = (c.run + c.per_channel - 1) / c.per_channel * c.per_channel;
    }
    return c;
  }

  /// Rows anywhere, on top of each other, backwards, or one behind the other; pieces too.
  void draw_row_strides(RowOperand& o, int64_t run) {
    const auto stride = [&] {
      const int64_t kind = dice_.pick(0, 5);
      return kind == 0   ? 0
             : kind == 1 ? -dice_.pick(1, run)
             : kind == 2 ? run
                         : dice_.pick(1, 2 * run);
    };
    for (int64_t& s : o.row_stride) s = stride();
    o.piece_stride = stride();
  }

  /// Rows and pieces of the output one behind the other, the levels in any order.
  void draw_out_strides(RowCommand& c) {
    std::array<size_t, kLaneLevels + 1> order{0, 1, 2, 3, 4};
    std::shuffle(order.begin(), order.end(), dice_.generator());
    int64_t step = c.run;
    for (const size_t level : order) {
      const bool rows = level < kLaneLevels;
      (rows ? c.out.row_stride[level] : c.out.piece_stride) = step;
      step *= rows ? c.rows[level] : c.pieces;
    }
  }

  void draw_constants(RowCommand& c) {
    c.epilogue.zero = dice_.one_in(3) ? -128 : dice_.number(-128, 127);
    if (c.op == RowOp::softmax) return draw_softmax(c);
    c.unit_bits = norm_unit_bits(c.length());
    c.input_zero = dice_.number(-128, 127);
    const int64_t kind = dice_.pick(0, 3);
    c.epsilon = kind == 0   ? 0
                : kind == 1 ? dice_.pick(0, int64_t{1} << 62)
                            : int64_t{1} << dice_.pick(0, kind == 2 ? 62 : 40);
    if (dice_.one_in(3)) {
      c.epilogue.low = dice_.number(-128, 127);
      c.epilogue.high = dice_.number(c.epilogue.low, 127);
    }
  }

 private:
  void draw_softmax(RowCommand& c) {
    if (c.logarithm) draw_logarithm(*c.logarithm);
    c.numerator = dice_.number(1 << 30, INT32_MAX);
    c.exponent = dice_.one_in(3) ? 8 : dice_.number(0, 16);
    if (c.mask && !dice_.one_in(4)) {
      const auto t =
          softmax_tables({.input = any_scale(-8, 2), .mask = any_scale(-8, 4), .output = {}});
      if (t) {
        c.row_multiplier = t->row_multiplier;
        c.mask_multiplier = t->mask_multiplier;
        c.difference_shift = t->difference_shift;
        return;
      }
    }
    c.difference_shift = dice_.one_in(2) ? 0 : dice_.number(0, 15);
    const int64_t most = std::min<int64_t>(int64_t{32} << c.difference_shift, UINT16_MAX);
    c.row_multiplier = dice_.number(0, dice_.one_in(8) ? UINT16_MAX : most);
    if (c.mask) c.mask_multiplier = dice_.number(0, dice_.one_in(8) ? UINT16_MAX : most);
  }

  /// Steps of 2^-24 .. 2^2 logits, or of what a multiplier holds, and zeros that come to int8.
  void draw_logarithm(RowLogarithm& l) {
    l.shift = dice_.number(0, dice_.one_in(4) ? 62 : 40);
    const int64_t most = std::min<int64_t>(int64_t{1} << std::min(l.shift, 30), INT32_MAX);
    l.row_multiplier = dice_.number(0, dice_.one_in(8) ? INT32_MAX : most);
    l.sum_multiplier = dice_.number(0, dice_.one_in(8) ? INT32_MAX : most >> 10);
    const int64_t zero = int64_t{127} << std::min(l.shift, 53);
    l.addend = dice_.one_in(8) ? dice_.pick(-(int64_t{1} << 60), int64_t{1} << 60)
                               : dice_.pick(-zero, zero);
  }

  const Dice dice_;
};

/// First and last byte that rows, and pieces of them, reach from the first one's begin.
Reach reach_of(const RowCommand& c, const RowOperand& o) {
  return reach_over(c.rows, o.row_stride).add_index(c.pieces, o.piece_stride);
}

}  // namespace

std::vector<uint8_t> random_row_parameters(std::mt19937& random) {
  const Dice dice(random);
  RowDraws draw(dice);
  std::vector<int32_t> words;
  for (int64_t i = 0; i < kRowTables; ++i) {
    const SoftmaxTables t = *softmax_tables({.input = draw.any_scale(-13, i < 4 ? -4 : 3)});
    words.insert(words.end(), t.coarse.begin(), t.coarse.end());
    words.insert(words.end(), t.fine.begin(), t.fine.end());
  }
  for (int64_t i = 0; i < kRowChannels; ++i) {
    // Steep ones take normalised elements that a large epsilon makes small, of rows of small
    // differences very small, to all of int8: there the last bits of these count most.
    const bool extreme = dice.one_in(16), steep = dice.one_in(2);
    NormChannel c;
    c.beta = extreme ? dice.number(INT32_MIN, INT32_MAX) : dice.number(-(120 << 20), 120 << 20);
    c.multiplier = extreme          ? dice.number(-kMultiplier, kMultiplier - 1)
                   : dice.one_in(4) ? dice.number(-kMultiplier, -kMultiplier / 4)
                                    : dice.number(kMultiplier / 4, kMultiplier - 1);
    c.shift = extreme ? dice.number(0, 62) : steep ? dice.number(4, 12) : dice.number(21, 29);
    const NormWords packed = pack_channel(c);
    words.insert(words.end(), packed.begin(), packed.end());
  }
  std::vector<uint8_t> out(words.size() * sizeof words[0]);
  std::memcpy(out.data(), words.data(), out.size());
  return out;
}

RowParameters row_parameters(const RowCommand& c) {
  if (c.op == RowOp::softmax) return {0, RowCommand::kTableBytes, kRowTables};
  return {kRowTables * RowCommand::kTableBytes, RowCommand::kChannelBytes, kRowChannels};
}

void RandomRows::place_behind(const SlotRoom& by) {
  command.in.offset += Affine(by.in);
  if (command.mask) command.mask->offset += Affine(by.in);
  command.out.offset += Affine(by.out);
  if (command.logarithm) command.logarithm->offset += Affine(by.out);
  command.parameter_offset += Affine(by.parameters);
}

std::optional<RandomRows> random_rows(const HwConfig& hw, const SlotRoom& room,
                                      std::mt19937& random) {
  const Dice dice(random);
  RowDraws draw(dice);
  RandomRows out{draw.draw_shape(), {}};
  RowCommand& c = out.command;
  if (contract::row_beat(c, hw) < 1 || c.row_count() > 60) return std::nullopt;
  for (RowOperand* o : {&c.in, c.mask ? &*c.mask : nullptr}) {
    if (!o) continue;
    draw.draw_row_strides(*o, c.run);
    const Reach r = reach_of(c, *o);
    o->offset = Affine(out.room.in - r.low);
    out.room.in += r.high - r.low + c.run;
  }
  draw.draw_out_strides(c);
  draw.draw_constants(c);
  out.room.out = c.row_count() * c.length();
  if (c.logarithm) {
    c.logarithm->offset = Affine(out.room.out);
    out.room.out += c.row_count();
  }
  out.room.parameters = RowCommand::kTableBytes;
  if (c.op != RowOp::softmax) {
    for (int64_t& s : c.parameter_stride)
      s = dice.one_in(2) ? 0 : RowCommand::kChannelBytes * dice.pick(-4, 9);
    const Reach r = reach_over(c.rows, c.parameter_stride);
    c.parameter_offset = Affine(-r.low);
    out.room.parameters = r.high - r.low + c.channels() * RowCommand::kChannelBytes;
  }
  if (out.room.in > room.in || out.room.out > room.out || out.room.parameters > room.parameters ||
      out.room.parameters / row_parameters(c).unit + 10 > kRowChannels)
    return std::nullopt;
  return out;
}

}  // namespace accsim::hw
