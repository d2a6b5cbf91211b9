#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "hw/golden/row_math.h"
#include "hw/random/random_rows.h"
#include "tests/hw/golden/lane_program.h"
#include "tests/hw/golden/row_definitions.h"
#include "tests/support/index.h"

namespace accsim::hw {
namespace {

using test::as_index;
using test::LaneProgram;
using test::outputs;
using test::rounded;
using test::Wide;

// ---- docs/vector-arithmetic.md in 128 bits ------------------------------------------------------

Wide within_limits(Wide v, Wide low, Wide high) { return v < low ? low : v > high ? high : v; }

/// The largest number whose square is at most this one.
Wide row_root_of(Wide v) {
  Wide r = 0;
  for (Wide bit = Wide{1} << 32; bit > 0; bit /= 2)
    if ((r + bit) * (r + bit) <= v) r += bit;
  return r;
}

Wide row_word(const std::vector<int>& p, int64_t at) {
  uint32_t out = 0;
  for (int64_t i = 0; i < 4; ++i)
    out |= static_cast<uint32_t>(p[as_index(at + i)] & 255) << (8 * i);
  return static_cast<int32_t>(out);
}

/// Of a row's sum, whose first 32 bits and width these are.
int logarithm_of(const RowLogarithm& l, Wide top, Wide first, int width) {
  const auto entry = [](Wide i) {
    return static_cast<Wide>(std::llround(65536 * std::log2(1 + static_cast<double>(i) / 64)));
  };
  const Wide piece = first / (1 << 25) % 64, rest = first / (1 << 15) % 1024;
  const Wide log =
      (width - 31) * 65536 + entry(piece) + rounded((entry(piece + 1) - entry(piece)) * rest, 10);
  const Wide value = top * l.row_multiplier + log * l.sum_multiplier + l.addend;
  return static_cast<int>(within_limits(rounded(value, l.shift), -128, 127));
}

std::vector<int> softmax_of(const RowCommand& c, const std::vector<int>& x,
                            const std::vector<int>& m, const std::vector<int>& p, int64_t tables) {
  std::vector<Wide> u, e;
  for (size_t i = 0; i < x.size(); ++i)
    u.push_back(Wide{c.row_multiplier} * x[i] + (c.mask ? Wide{c.mask_multiplier} * m[i] : 0));
  const Wide top = *std::max_element(u.begin(), u.end());
  Wide sum = 0;
  for (const Wide each : u) {
    const Wide d = within_limits(rounded(top - each, c.difference_shift), 0, 4096);
    const Wide product = d == 4096
                             ? 0
                             : row_word(p, tables + 4 * static_cast<int64_t>(d / 64)) *
                                   row_word(p, tables + 256 + 4 * static_cast<int64_t>(d % 64));
    e.push_back(rounded(product, 30));
    sum += e.back();
  }
  int width = 0;
  while (sum >> width != 0) ++width;
  const Wide reciprocal = (Wide{c.numerator} << 31) / ((sum << 32) >> width);
  std::vector<int> out;
  for (const Wide each : e)
    out.push_back(static_cast<int>(within_limits(
        rounded(each * reciprocal, std::min(29 + width - c.exponent, 62)) + c.epilogue.zero, -128,
        127)));
  if (c.logarithm) out.push_back(logarithm_of(*c.logarithm, top, (sum << 32) >> width, width));
  return out;
}

std::vector<int> norm_of(const RowCommand& c, const std::vector<int>& x, const std::vector<int>& p,
                         int64_t channels) {
  const Wide n = static_cast<Wide>(x.size());
  Wide sum = 0, squares = 0;
  for (const int each : x) {
    sum += each - c.input_zero;
    squares += Wide{each - c.input_zero} * (each - c.input_zero);
  }
  if (c.op == RowOp::rms_norm) sum = 0;
  const Wide wide = std::max<Wide>((n * squares - sum * sum) * (1 << 14) + c.epsilon, 1);
  int pairs = 0;
  while (wide << (2 * pairs + 2) < Wide{1} << 64) ++pairs;
  const Wide reciprocal = (Wide{1} << 61) / row_root_of(wide << (2 * pairs));
  std::vector<int> out;
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t at = channels + static_cast<int64_t>(i) % c.run / c.per_channel * 8;
    const Wide unit = rounded((n * (x[i] - c.input_zero) - sum) * reciprocal,
                              std::max(54 - c.unit_bits - pairs, 0));
    const Wide word = row_word(p, at + 4) & 0xffffffff, size = word % (1 << 26);
    const Wide multiplier = size < 1 << 25 ? size : size - (1 << 26);
    const Wide scaled =
        rounded(unit * multiplier, static_cast<int>(word / (1 << 26))) + row_word(p, at);
    out.push_back(static_cast<int>(
        within_limits(rounded(scaled, 20) + c.epilogue.zero, c.epilogue.low, c.epilogue.high)));
  }
  return out;
}

using RowOutputs = std::vector<std::optional<int>>;

/// What a command leaves in the output slot.
void define_rows(RowOutputs& y, const RowCommand& c, const std::vector<int>& a,
                 const std::vector<int>& p) {
  int64_t index = 0;
  for (int64_t r0 = 0; r0 < c.rows[0]; ++r0)
    for (int64_t r1 = 0; r1 < c.rows[1]; ++r1)
      for (int64_t r2 = 0; r2 < c.rows[2]; ++r2)
        for (int64_t r3 = 0; r3 < c.rows[3]; ++r3) {
          const auto row = [&](const std::array<int64_t, 4>& stride) {
            return r0 * stride[0] + r1 * stride[1] + r2 * stride[2] + r3 * stride[3];
          };
          const auto places = [&](const RowOperand& o) {
            std::vector<int64_t> at;
            for (int64_t piece = 0; piece < c.pieces; ++piece)
              for (int64_t e = 0; e < c.run; ++e)
                at.push_back(o.offset.base + row(o.row_stride) + piece * o.piece_stride + e);
            return at;
          };
          std::vector<int> x, m;
          for (const int64_t at : places(c.in)) x.push_back(a[as_index(at)]);
          if (c.mask)
            for (const int64_t at : places(*c.mask)) m.push_back(a[as_index(at)]);
          const std::vector<int> row_out =
              c.op == RowOp::softmax
                  ? softmax_of(c, x, m, p, c.parameter_offset.base)
                  : norm_of(c, x, p, c.parameter_offset.base + row(c.parameter_stride));
          const std::vector<int64_t> to = places(c.out);
          for (size_t i = 0; i < to.size(); ++i) y[as_index(to[i])] = row_out[i];
          if (c.logarithm) y[as_index(c.logarithm->offset.base + index++)] = row_out.back();
        }
}

// ---- random commands ----------------------------------------------------------------------------

std::vector<int> bytes_of(const std::vector<uint8_t>& bytes, int64_t from, int64_t count) {
  std::vector<int> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(static_cast<int8_t>(bytes[as_index(from + i)]));
  return out;
}

TEST(Rows, AreRandomCommandsWhatTheContractSays) {
  std::mt19937 random(3);
  const HwConfig hw = LaneProgram::machine();
  std::array<int, kRowOps> done{};
  int64_t values = 0, limited_ones = 0, masks = 0;
  for (int n = 0; n < 1500;) {
    const auto drawn = random_rows(hw, {4096, 2048, 1024}, random);
    if (!drawn) continue;
    const RowCommand& c = drawn->command;
    const RowParameters from = row_parameters(c);
    LaneProgram rows;
    // Of elements that are alike, too.
    const int spread = 1 << random() % 8;
    for (int64_t i = 0; i < drawn->room.in; ++i)
      rows.a.push_back(
          std::clamp(static_cast<int>(random() % 256) % (2 * spread) - spread, -128, 127));
    rows.p = bytes_of(random_row_parameters(random), from.begin, drawn->room.parameters);
    rows.commands = {Command{c}};
    RowOutputs y(as_index(LaneProgram::out_bytes()));
    define_rows(y, c, rows.a, rows.p);
    ASSERT_TRUE(verify(rows.program(), hw).ok()) << program_text(rows.program());
    const std::vector<int> found = outputs(rows, LaneProgram::out_bytes());
    for (size_t i = 0; i < y.size(); ++i) {
      if (!y[i]) continue;
      ASSERT_EQ(found[i], *y[i]) << n << " byte " << i << "\n" << program_text(rows.program());
      ++values;
      limited_ones += *y[i] == c.epilogue.low || *y[i] == c.epilogue.high ? 1 : 0;
    }
    ++done[static_cast<size_t>(c.op)];
    masks += c.mask ? 1 : 0;
    ++n;
  }
  for (const int of_op : done) EXPECT_GT(of_op, 200);
  EXPECT_GT(masks, 100);
  EXPECT_GT(values, 100000);
  EXPECT_LT(limited_ones, values * 3 / 4);
}

// ---- against reals ------------------------------------------------------------------------------

/// One row of so many elements, its parameters from byte 0 on.
LaneProgram one_row(RowCommand c, std::vector<int> x, const std::vector<int32_t>& words) {
  LaneProgram out;
  c.run = std::ssize(x);
  out.a = std::move(x);
  for (const int32_t w : words)
    for (int i = 0; i < 4; ++i)
      out.p.push_back(static_cast<int8_t>(static_cast<uint32_t>(w) >> (8 * i)));
  out.commands = {Command{c}};
  return out;
}

TEST(Rows, IsASoftmaxTheRealOneWithinASmallStep) {
  const SoftmaxTables t = *softmax_tables({.input = 0.05});
  std::vector<int32_t> words(t.coarse.begin(), t.coarse.end());
  words.insert(words.end(), t.fine.begin(), t.fine.end());
  RowCommand c;
  c.numerator = t.numerator;
  c.exponent = t.exponent;
  c.epilogue.zero = -128;
  std::vector<int> x;
  for (int i = 0; i < 300; ++i) x.push_back((i * 71 + 13) % 251 - 125);
  double sum = 0;
  for (const int each : x) sum += std::exp(0.05 * each);
  const std::vector<int> y = outputs(one_row(c, x, words), std::ssize(x));
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(y[i], 256 * std::exp(0.05 * x[i]) / sum - 128, 0.51) << i;
}

TEST(Rows, IsANormalisationTheRealOneWithinASmallStep) {
  for (const RowOp op : {RowOp::layer_norm, RowOp::rms_norm}) {
    std::vector<int> x;
    for (int i = 0; i < 80; ++i) x.push_back((i * 71 + 13) % 251 - 125);
    RowCommand c;
    c.op = op;
    c.unit_bits = norm_unit_bits(std::ssize(x));
    c.epsilon = *norm_epsilon(1e-5, 0.02, std::ssize(x));
    c.input_zero = -7;
    c.epilogue.zero = 9;
    const double step = 0.03;
    std::vector<int32_t> words;
    for (size_t i = 0; i < x.size(); ++i) {
      const auto index = static_cast<double>(i);
      const NormWords n =
          pack_channel(*norm_channel(1 + index / 100, index / 50 - 1, step, c.unit_bits));
      words.insert(words.end(), n.begin(), n.end());
    }
    double mean = 0, squares = 0;
    for (const int each : x) mean += 0.02 * (each + 7) / 80;
    if (op == RowOp::rms_norm) mean = 0;
    for (const int each : x) squares += std::pow(0.02 * (each + 7) - mean, 2) / 80;
    const std::vector<int> y = outputs(one_row(c, x, words), std::ssize(x));
    for (size_t i = 0; i < x.size(); ++i) {
      const auto index = static_cast<double>(i);
      const double real = (0.02 * (x[i] + 7) - mean) / std::sqrt(squares + 1e-5);
      const double expected = ((1 + index / 100) * real + index / 50 - 1) / step + 9;
      ASSERT_NEAR(y[i], std::clamp(expected, -128.0, 127.0), 0.51) << i;
    }
  }
}

// ---- errors -------------------------------------------------------------------------------------

std::string row_error(const LaneProgram& rows) {
  MemoryImage image = rows.image();
  const Status s = run_golden(rows.program(), LaneProgram::machine(), image);
  return s ? "" : s.errors().front().text();
}

TEST(Rows, AreTablesThatAreNoneRefused) {
  std::vector<int32_t> words(128, 0);
  words[0] = words[64] = 1 << 30;
  RowCommand c;
  c.numerator = 1 << 30;
  EXPECT_EQ(row_error(one_row(c, {1, 2, 3}, words)), "");
  for (const size_t i : {size_t{0}, size_t{64}, size_t{5}, size_t{127}})
    for (const int32_t bad : {(1 << 30) + 1, -1}) {
      std::vector<int32_t> bent = words;
      bent[i] = bad;
      EXPECT_NE(row_error(one_row(c, {1, 2, 3}, bent)).find("tables of a softmax"),
                std::string::npos);
    }
  words[64] = (1 << 30) - 1;
  EXPECT_NE(row_error(one_row(c, {1, 2, 3}, words)), "");
}

TEST(Rows, IsWhatOnlyPostsHaveRefused) {
  for (const RowOp op : {RowOp::softmax, RowOp::rms_norm})
    for (int what = 0; what < 4; ++what) {
      RowCommand c;
      c.op = op;
      c.numerator = 1 << 30;
      c.unit_bits = 30;
      c.epilogue.relu = what == 1;
      c.epilogue.table = what == 2;
      if (what == 3) c.epilogue.residual.emplace();
      std::vector<int32_t> words(128, 0);
      words[0] = words[64] = op == RowOp::softmax ? 1 << 30 : 1;
      EXPECT_EQ(row_error(one_row(c, {5}, words)).empty(), what == 0);
    }
}

TEST(Rows, AreShiftsBeyondALongProductRefused) {
  RowCommand c;
  c.op = RowOp::rms_norm;
  c.unit_bits = 30;
  const auto shifted = [&](uint32_t shift) {
    return row_error(one_row(c, {5}, {0, static_cast<int32_t>(shift << 26 | 1)}));
  };
  for (const uint32_t shift : {0, 62}) EXPECT_EQ(shifted(shift), "");
  EXPECT_NE(shifted(63).find("a channel shifts by 63"), std::string::npos);
}

TEST(Rows, AreAddressesOutsideOfSlotsRefused) {
  RowCommand c;
  c.op = RowOp::layer_norm;
  c.unit_bits = 29;
  const std::vector<int> x = {1, 2, 3};
  const std::vector<int32_t> words(6, 1);
  EXPECT_EQ(row_error(one_row(c, x, words)), "");
  using Bend = void (*)(RowCommand&);
  for (const Bend bend : {Bend{[](RowCommand& r) { r.in.offset = Affine(4096 - 2); }},
                          {[](RowCommand& r) { r.out.offset = Affine(-1); }},
                          {[](RowCommand& r) { r.parameter_offset = Affine(1024 - 23); }},
                          {[](RowCommand& r) { r.rows[2] = 3, r.parameter_stride[2] = -1; }},
                          {[](RowCommand& r) { r.rows[0] = 2, r.out.row_stride[0] = 2048; }},
                          {[](RowCommand& r) { r.rows[1] = 0; }},
                          {[](RowCommand& r) { r.unit_bits = 28; }}}) {
    RowCommand bent = c;
    bend(bent);
    EXPECT_NE(row_error(one_row(bent, x, words)), "");
  }
}

}  // namespace
}  // namespace accsim::hw
