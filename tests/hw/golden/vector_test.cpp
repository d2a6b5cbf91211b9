#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/hw/golden/draws.h"
#include "tests/hw/golden/lane_program.h"
#include "tests/support/index.h"

namespace accsim::hw {
namespace {

using test::all_bytes;
using test::as_index;
using test::LaneProgram;
using test::outputs;

// What the definition below computes with holds every sum of a lane command exactly.
static_assert(std::numeric_limits<long double>::digits >= 64);

/// Bytes of the output slot; nothing where no command writes.
using Outputs = std::vector<std::optional<int>>;

/// Section "Values" of rtl/README.md, element by element.
void define(Outputs& y, const LaneCommand& c, const std::vector<int>& a, const std::vector<int>& p,
            const std::vector<int>& table) {
  const auto at = [](const Affine& first, const std::array<int64_t, 4>& stride, int64_t r0,
                     int64_t r1, int64_t r2, int64_t r3) {
    return first.base + r0 * stride[0] + r1 * stride[1] + r2 * stride[2] + r3 * stride[3];
  };
  const auto element = [&](int64_t a_row, int64_t b_at, int64_t i) {
    std::vector<int64_t> taps;
    for (int64_t u = 0; u < c.taps[0]; ++u)
      for (int64_t v = 0; v < c.taps[1]; ++v)
        for (int64_t j = c.across ? 0 : i; j < (c.across ? c.run : i + 1); ++j)
          taps.push_back(a[as_index(a_row + u * c.tap_stride[0] + v * c.tap_stride[1] + j)] -
                         c.a.zero);
    long double big_a = 0;
    if (c.tap_op == TapOp::sum)
      for (const int64_t t : taps) big_a += static_cast<long double>(t);
    else if (c.tap_op == TapOp::min)
      big_a = static_cast<long double>(*std::min_element(taps.begin(), taps.end()));
    else
      big_a = static_cast<long double>(*std::max_element(taps.begin(), taps.end()));
    long double s = big_a * c.a.multiplier;
    if (c.op != LaneOp::copy) {
      const auto& from = c.b->buffer == Buffer::parameter ? p : a;
      const long double b = from[as_index(b_at)] - c.b->zero, scaled = b * c.b->multiplier;
      if (c.op == LaneOp::add) s += scaled;
      if (c.op == LaneOp::sub) s -= scaled;
      if (c.op == LaneOp::mul) s *= b;
      if (c.op == LaneOp::min) s = std::fmin(s, scaled);
      if (c.op == LaneOp::max) s = std::fmax(s, scaled);
    }
    const long double rounded = std::round(std::ldexp(s, -c.shift)) + c.epilogue.zero;
    const auto low = static_cast<long double>(c.epilogue.low),
               high = static_cast<long double>(c.epilogue.high);
    const int clipped = static_cast<int>(rounded < low ? low : rounded > high ? high : rounded);
    return c.epilogue.table ? table[as_index(clipped + 128)] : clipped;
  };
  for (int64_t r0 = 0; r0 < c.rows[0]; ++r0)
    for (int64_t r1 = 0; r1 < c.rows[1]; ++r1)
      for (int64_t r2 = 0; r2 < c.rows[2]; ++r2)
        for (int64_t r3 = 0; r3 < c.rows[3]; ++r3)
          for (int64_t i = 0; i < (c.across ? 1 : c.run); ++i) {
            const int64_t to = at(c.slot_offset, c.out_stride, r0, r1, r2, r3) + i;
            const int64_t b =
                c.b ? at(c.b->offset, c.b->row_stride, r0, r1, r2, r3) + (c.b->splat ? 0 : i) : 0;
            y[as_index(to)] = element(at(c.a.offset, c.a.row_stride, r0, r1, r2, r3), b, i);
          }
}

/// What golden says where the definition says anything; empty when they agree. A table is the first
/// that the parameter slot holds.
std::string difference(const LaneProgram& lanes) {
  Outputs y(as_index(LaneProgram::out_bytes()));
  for (const Command& command : lanes.commands)
    if (const auto* c = std::get_if<LaneCommand>(&command))
      define(y, *c, lanes.a, lanes.p, lanes.p);
  MemoryImage image = lanes.image();
  if (const Status s = verify(lanes.program(), LaneProgram::machine()); !s)
    return s.errors().front().text();
  if (const Status s = run_golden(lanes.program(), LaneProgram::machine(), image); !s)
    return s.errors().front().text();
  for (size_t i = 0; i < y.size(); ++i)
    if (y[i] && *y[i] != static_cast<int8_t>(image[2][i]))
      return "byte " + std::to_string(i) + " is " +
             std::to_string(static_cast<int8_t>(image[2][i])) + ", should be " +
             std::to_string(*y[i]) + "\n" + program_text(lanes.program());
  return "";
}

// ---- random commands ----------------------------------------------------------------------------

class RandomLanes : public test::Draws {
 public:
  using Draws::Draws;

  /// A command with its slots and, when it has one, its table in front of the parameters.
  LaneProgram draw() {
    for (;;) {
      LaneProgram out;
      const LaneCommand c = command();
      if (!place(out, c)) continue;
      return out;
    }
  }

 private:
  template <size_t N>
  void strides(std::array<int64_t, N>& to) {
    for (int64_t& s : to) s = one_in(5) ? 0 : pick(-40, 40);
  }

  LaneCommand command() {
    LaneCommand c;
    c.op = static_cast<LaneOp>(pick(0, 5));
    c.tap_op = static_cast<TapOp>(pick(0, 2));
    for (int64_t& n : c.rows) n = one_in(3) ? 1 : pick(1, 4);
    if (one_in(2))
      for (int64_t& n : c.taps) n = pick(1, 4);
    c.across = one_in(3);
    c.run = one_in(4) ? 1 : pick(1, 40);
    strides(c.a.row_stride);
    strides(c.tap_stride);
    if (c.op == LaneOp::copy && !c.across && one_in(3)) {
      c.taps[0] = pick(2, LaneCommand::kMostColumns);
      c.slide = pick(1, c.taps[0] - 1);
      c.a.row_stride[3] = c.slide * c.tap_stride[0];
    }
    if (c.op != LaneOp::copy) {
      c.b.emplace();
      c.b->buffer = one_in(2) ? Buffer::parameter : Buffer::activation;
      c.b->splat = c.across || one_in(3);
      strides(c.b->row_stride);
    }
    for (LaneOperand* o : {&c.a, c.b ? &*c.b : nullptr})
      if (o) {
        o->zero = number(-128, 127);
        o->multiplier = number(-32768, 32767);
      }
    // About as many bits as the sums have more than int8.
    int64_t bits = c.op == LaneOp::mul ? 22 : 14;
    const int64_t taps = c.taps[0] * c.taps[1] * (c.across ? c.run : 1);
    for (int64_t n = c.tap_op == TapOp::sum ? taps : 1; n > 1; n /= 2) ++bits;
    c.shift = one_in(6) ? number(0, 62) : static_cast<int32_t>(bits + pick(-1, 4));
    c.epilogue.zero = one_in(10) ? number(-32768, 32767) : number(-128, 127);
    if (one_in(4)) {
      c.epilogue.low = number(-128, 127);
      c.epilogue.high = static_cast<int32_t>(pick(c.epilogue.low, 127));
    }
    c.epilogue.table = one_in(3);
    return c;
  }

  /// First and last byte that rows and taps reach, when the first lies at 0.
  static std::pair<int64_t, int64_t> reach(const LaneCommand& c,
                                           const std::array<int64_t, 4>& stride, bool taps) {
    std::pair<int64_t, int64_t> out{0, 0};
    const auto level = [&](int64_t count, int64_t s) {
      const int64_t last = (count - 1) * s;
      out.first += std::min<int64_t>(0, last);
      out.second += std::max<int64_t>(0, last);
    };
    for (size_t i = 0; i < 4; ++i) level(c.rows[i], stride[i]);
    for (size_t i = 0; taps && i < 2; ++i) level(c.taps[i], c.tap_stride[i]);
    return out;
  }

  /// Rows apart from one another, levels in any order, now and then backwards.
  void place_output(LaneCommand& c) {
    std::array<size_t, 4> order{0, 1, 2, 3};
    std::shuffle(order.begin(), order.end(), random_);
    int64_t step = (c.across ? 1 : c.run) + (one_in(3) ? pick(1, 5) : 0);
    for (const size_t l : order) {
      c.out_stride[l] = one_in(3) ? -step : step;
      step *= c.rows[l];
    }
  }

  bool place(LaneProgram& out, LaneCommand c) {
    place_output(c);
    const auto to = reach(c, c.out_stride, false);
    c.slot_offset = Affine(pick(0, 20) - to.first);
    if (c.slot_offset.base + to.second + c.run > LaneProgram::out_bytes()) return false;
    const int64_t table = c.epilogue.table ? SetTableCommand::kBytes : 0;
    int64_t a_bytes = 0, p_bytes = table;
    const auto operand = [&](LaneOperand& o, bool taps) {
      const auto r = reach(c, o.row_stride, taps);
      const bool parameter = o.buffer == Buffer::parameter;
      o.offset = Affine(pick(0, 20) - r.first + (parameter ? table : 0));
      int64_t& end = parameter ? p_bytes : a_bytes;
      end = std::max(end, o.offset.base + r.second + (o.splat ? 1 : c.run));
    };
    operand(c.a, true);
    if (c.b) operand(*c.b, false);
    const HwConfig hw = LaneProgram::machine();
    if (a_bytes > hw.buffer(Buffer::activation).slot_bytes() ||
        p_bytes > hw.buffer(Buffer::parameter).slot_bytes())
      return false;
    out.a = bytes(a_bytes);
    out.p = bytes(p_bytes);
    if (c.epilogue.table) out.commands.push_back({SetTableCommand{Queue::vector, Affine(0)}});
    out.commands.push_back({c});
    return true;
  }
};

TEST(Lanes, AreRandomCommandsWhatTheContractSays) {
  RandomLanes random(3);
  int64_t values = 0, limited = 0;
  for (int n = 0; n < 4000; ++n) {
    const LaneProgram lanes = random.draw();
    ASSERT_EQ(difference(lanes), "") << n;
    const auto& c = std::get<LaneCommand>(lanes.commands.back());
    Outputs y(as_index(LaneProgram::out_bytes()));
    LaneCommand plain = c;
    plain.epilogue.table = false;
    define(y, plain, lanes.a, lanes.p, {});
    for (const auto& v : y) {
      values += v ? 1 : 0;
      limited += v && (*v == c.epilogue.low || *v == c.epilogue.high) ? 1 : 0;
    }
  }
  // Else the definition is only compared where it clips.
  EXPECT_GT(values, 400000);
  EXPECT_LT(limited, values / 2);
}

// ---- extremes -----------------------------------------------------------------------------------

LaneProgram of_all_bytes(LaneCommand c) {
  LaneProgram out;
  out.a = all_bytes();
  c.run = 256;
  out.commands = {Command{c}};
  return out;
}

TEST(Lanes, DoHalvesGoAwayFromZeroOnBothSides) {
  for (int shift = 0; shift <= 9; ++shift)
    for (const int sign : {1, -1}) {
      LaneCommand c;
      c.a.multiplier = sign;
      c.shift = shift;
      const std::vector<int> y = outputs(of_all_bytes(c), 256);
      for (int v = -128; v < 128; ++v) {
        const int s = sign * v, step = 1 << shift, whole = std::abs(s) / step;
        const int magnitude = whole + (2 * (std::abs(s) % step) >= step ? 1 : 0);
        const int expected = std::min(s < 0 ? -magnitude : magnitude, 127);
        ASSERT_EQ(y[as_index(v + 128)], expected) << v << " / 2^" << shift;
      }
    }
}

TEST(Lanes, AreAllLimitsKept) {
  std::mt19937 random(4);
  for (int low = -128; low < 128; ++low)
    for (const int high :
         {low, 127, low + static_cast<int>(random() % (128 - static_cast<unsigned>(low)))}) {
      LaneCommand c;
      c.epilogue.low = low;
      c.epilogue.high = high;
      const std::vector<int> y = outputs(of_all_bytes(c), 256);
      for (int v = -128; v < 128; ++v)
        ASSERT_EQ(y[as_index(v + 128)], std::max(low, std::min(high, v))) << low << " " << high;
    }
}

TEST(Lanes, DoLongestSumsAndProductsSurvive) {
  // 2^20 taps of +-255, by +-2^15, by 255: 2^51 and more, at every shift.
  for (const int value : {127, -128})
    for (const int multiplier : {32767, -32768})
      for (int shift = 35; shift <= 62; ++shift) {
        LaneProgram lanes;
        lanes.a = {value};
        lanes.p = {127};
        LaneCommand c;
        c.op = LaneOp::mul;
        c.run = 1;
        c.taps = {shift % 9 == 0 ? 1 << 10 : 1, 1 << 10};
        c.a.zero = value > 0 ? -128 : 127;
        c.a.multiplier = multiplier;
        c.b.emplace();
        c.b->buffer = Buffer::parameter;
        c.b->zero = -128;
        c.shift = shift;
        lanes.commands = {Command{c}};
        ASSERT_EQ(difference(lanes), "") << value << " " << multiplier << " " << shift;
      }
}

TEST(Lanes, IsTheZeroPointOfTheResultAddedBehindTheRounding) {
  // 3 / 2 = 2 and -3 / 2 = -2, then the zero point; 16 bits of it, clipped behind.
  for (const auto& [zero, expected] :
       {std::pair{0, std::array{2, -2}}, std::pair{-3, std::array{-1, -5}},
        std::pair{126, std::array{127, 124}}, std::pair{32767, std::array{127, 127}},
        std::pair{-32768, std::array{-128, -128}}}) {
    LaneProgram lanes;
    lanes.a = {3, -3};
    LaneCommand c;
    c.run = 2;
    c.shift = 1;
    c.epilogue.zero = zero;
    lanes.commands = {Command{c}};
    EXPECT_EQ(outputs(lanes, 2), (std::vector<int>{expected[0], expected[1]})) << zero;
  }
}

}  // namespace
}  // namespace accsim::hw
