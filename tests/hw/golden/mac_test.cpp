#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/hw/golden/draws.h"
#include "tests/hw/golden/lane_program.h"
#include "tests/support/index.h"

namespace accsim::hw {
namespace {

using test::as_index;
using test::LaneProgram;
using test::outputs;

/// The words of a channel.
struct Scale {
  int32_t bias = 0, multiplier = 1, shift = 0;
};

int32_t word(const std::vector<int>& bytes, int64_t at) {
  uint32_t out = 0;
  for (int64_t i = 0; i < 4; ++i)
    out |= static_cast<uint32_t>(bytes[as_index(at + i)] & 255) << (8 * i);
  return static_cast<int32_t>(out);
}

void put(std::vector<int>& bytes, const Scale& s) {
  for (const int32_t w : {s.bias, s.multiplier, s.shift})
    for (int i = 0; i < 4; ++i)
      bytes.push_back(static_cast<int8_t>(static_cast<uint32_t>(w) >> (8 * i)));
}

int64_t at(const std::array<int64_t, 4>& row, const std::array<int64_t, 4>& stride) {
  return row[0] * stride[0] + row[1] * stride[1] + row[2] * stride[2] + row[3] * stride[3];
}

/// Section "A mac" of rtl/README.md, for one element. A long double holds all of its sums.
int define(const LaneCommand& c, const LaneProgram& l, const std::array<int64_t, 4>& row,
           int64_t i) {
  const int64_t n = i + at(row, c.b->row_stride);
  long double sum = 0;
  for (int64_t u = 0; u < c.taps[0]; ++u)
    for (int64_t v = 0; v < c.taps[1]; ++v) {
      const int64_t a =
          c.a.offset.base + i + at(row, c.a.row_stride) + u * c.tap_stride[0] + v * c.tap_stride[1];
      const int64_t w = c.b->offset.base + n + u * c.weight_stride[0] + v * c.weight_stride[1];
      sum += static_cast<long double>(l.a[as_index(a)] - c.a.zero) *
             static_cast<long double>(l.p[as_index(w)] - c.b->zero);
    }
  const int64_t scale = c.channel_offset.base + 12 * n;
  // Wrapped to 32 bits, as an accumulator is.
  sum = std::remainder(sum + word(l.p, scale), 4294967296.0L);
  if (sum == 2147483648.0L) sum = -sum;
  const long double product = sum * word(l.p, scale + 4);
  const long double y = std::round(std::ldexp(product, -word(l.p, scale + 8))) + c.epilogue.zero;
  const int v = static_cast<int>(std::clamp<long double>(y, c.epilogue.low, c.epilogue.high));
  return c.epilogue.table ? l.p[as_index(v + 128)] : v;
}

/// What golden says where the definition says something else; "" when they agree.
std::string difference(const LaneCommand& c, const LaneProgram& lanes) {
  if (const Status s = verify(lanes.program(), LaneProgram::machine()); !s)
    return s.errors().front().text();
  const std::vector<int> y = outputs(lanes, LaneProgram::out_bytes());
  std::array<int64_t, 4> r{};
  for (r[0] = 0; r[0] < c.rows[0]; ++r[0])
    for (r[1] = 0; r[1] < c.rows[1]; ++r[1])
      for (r[2] = 0; r[2] < c.rows[2]; ++r[2])
        for (r[3] = 0; r[3] < c.rows[3]; ++r[3])
          for (int64_t i = 0; i < c.run; ++i) {
            const int64_t to = c.slot_offset.base + at(r, c.out_stride) + i;
            const int wanted = define(c, lanes, r, i);
            if (y[as_index(to)] != wanted)
              return "byte " + std::to_string(to) + " is " + std::to_string(y[as_index(to)]) +
                     ", should be " + std::to_string(wanted) + "\n" + program_text(lanes.program());
          }
  return "";
}

class RandomMacs : public test::Draws {
 public:
  using Draws::Draws;

  /// Scales behind a table, weights behind these; strides of all signs.
  LaneProgram draw(LaneCommand& c) {
    for (;;)
      if (LaneProgram out = drawn(c);
          std::ssize(out.p) <= LaneProgram::machine().buffer(Buffer::parameter).slot_bytes())
        return out;
  }

 private:
  LaneProgram drawn(LaneCommand& c) {
    c = {};
    c.op = LaneOp::mac;
    c.b.emplace().buffer = Buffer::parameter;
    for (int64_t& n : c.rows) n = one_in(2) ? 1 : pick(1, 3);
    for (int64_t& n : c.taps) n = pick(1, 4);
    c.run = pick(1, 12);
    for (auto* strides : {&c.tap_stride, &c.weight_stride})
      for (int64_t& s : *strides) s = one_in(4) ? 0 : pick(-20, 20);
    for (int64_t& s : c.a.row_stride) s = one_in(4) ? 0 : pick(-20, 20);
    for (int64_t& s : c.b->row_stride) s = one_in(2) ? 0 : pick(-6, 6);
    c.a.zero = number(-128, 127);
    c.b->zero = one_in(2) ? 0 : number(-128, 127);
    c.epilogue.zero = one_in(8) ? number(-32768, 32767) : number(-128, 127);
    if (one_in(3)) {
      c.epilogue.low = number(-128, 127);
      c.epilogue.high = static_cast<int32_t>(pick(c.epilogue.low, 127));
    }
    c.epilogue.table = one_in(3);
    return place(c);
  }

  Scale scale() {
    if (one_in(8))
      return {number(INT32_MIN, INT32_MAX), number(INT32_MIN, INT32_MAX), number(0, 62)};
    return {number(-20000, 20000), number(1 << 20, 1 << 24), number(28, 36)};
  }

  LaneProgram place(LaneCommand& c) {
    LaneProgram out;
    const auto low = [&](const auto& counts, const auto& strides) {
      int64_t least = 0;
      for (size_t i = 0; i < counts.size(); ++i)
        least += std::min<int64_t>(0, (counts[i] - 1) * strides[i]);
      return least;
    };
    c.a.offset = Affine(-low(c.rows, c.a.row_stride) - low(c.taps, c.tap_stride));
    out.a = bytes(600);
    if (c.epilogue.table) {
      out.commands.push_back({SetTableCommand{Queue::vector, Affine(0)}});
      out.p = bytes(256);
    }
    const int64_t before = -low(c.rows, c.b->row_stride);
    int64_t channels = before + c.run;
    for (size_t i = 0; i < c.rows.size(); ++i)
      channels += std::max<int64_t>(0, (c.rows[i] - 1) * c.b->row_stride[i]);
    c.channel_offset = Affine(std::ssize(out.p) + before * 12);
    for (int64_t n = 0; n < channels; ++n) put(out.p, scale());
    c.b->offset = Affine(std::ssize(out.p) + before - low(c.taps, c.weight_stride));
    for (const int v : bytes(channels + 130)) out.p.push_back(v);
    int64_t step = c.run;
    for (size_t l = 4; l-- > 0; step *= c.rows[l]) c.out_stride[l] = step;
    out.commands.push_back({c});
    return out;
  }
};

TEST(Macs, AreRandomCommandsWhatTheContractSays) {
  RandomMacs random(5);
  int64_t inside = 0;
  for (int n = 0; n < 3000; ++n) {
    LaneCommand c;
    const LaneProgram lanes = random.draw(c);
    ASSERT_EQ(difference(c, lanes), "") << n;
    const int y = define(c, lanes, {}, 0);
    inside += !c.epilogue.table && y > c.epilogue.low && y < c.epilogue.high;
  }
  // Else the definition is only compared where it clips.
  EXPECT_GT(inside, 500);
}

/// One channel of as many taps, all of them alike.
LaneProgram of_taps(int64_t taps, int a, int weight, const Scale& s, LaneCommand& c) {
  LaneProgram out;
  out.a = {a};
  put(out.p, s);
  out.p.push_back(weight);
  c = {};
  c.op = LaneOp::mac;
  c.run = 1;
  c.taps = {taps, 1};
  c.b.emplace().buffer = Buffer::parameter;
  c.b->offset = Affine(12);
  out.commands = {Command{c}};
  return out;
}

TEST(Macs, IsTheBiasWrappedTo32BitsAsThatOfAPostIs) {
  // 3 x 5 + bias, times 1, beyond 2^31: -2^31 + 14, by 2^28.
  LaneCommand c;
  EXPECT_EQ(outputs(of_taps(3, 1, 5, {INT32_MAX, 1, 28}, c), 1), (std::vector<int>{-8}));
  EXPECT_EQ(outputs(of_taps(3, 1, -5, {INT32_MIN, 1, 28}, c), 1), (std::vector<int>{8}));
}

TEST(Macs, DoTheLargestSumsAndProductsSurvive) {
  for (const int a : {-128, 127})
    for (const int weight : {-128, 127})
      for (const int32_t multiplier : {INT32_MIN, INT32_MAX, 1})
        for (const int shift : {0, 30, 55, 62}) {
          LaneCommand c;
          LaneProgram lanes = of_taps(1 << 15, a, weight, {0, multiplier, shift}, c);
          c.a.zero = a > 0 ? -128 : 127;
          c.b->zero = weight > 0 ? -128 : 127;
          lanes.commands = {Command{c}};
          ASSERT_EQ(difference(c, lanes), "") << a << " " << weight << " " << multiplier;
        }
}

TEST(Macs, DoHalvesGoAwayFromZeroOnBothSides) {
  LaneCommand c;
  EXPECT_EQ(outputs(of_taps(1, 3, 1, {0, 1, 1}, c), 1), (std::vector<int>{2}));
  EXPECT_EQ(outputs(of_taps(1, -3, 1, {0, 1, 1}, c), 1), (std::vector<int>{-2}));
}

TEST(Macs, FailsWhereAChannelShiftsTooFar) {
  LaneCommand c;
  const LaneProgram lanes = of_taps(1, 1, 1, {0, 1, 63}, c);
  MemoryImage image = lanes.image();
  const Status s = run_golden(lanes.program(), LaneProgram::machine(), image);
  ASSERT_FALSE(s.ok());
  EXPECT_NE(s.errors().front().text().find("lane command shifts channel 0 by 63"),
            std::string::npos)
      << s.errors().front().text();
}

}  // namespace
}  // namespace accsim::hw
