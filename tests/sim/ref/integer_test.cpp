#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "sim/ref/integer_arithmetic.h"
#include "sim/ref/integer_gather.h"
#include "sim/ref/integer_lanes.h"
#include "sim/ref/integer_product.h"
#include "sim/ref/integer_rows.h"

namespace accsim::sim::ref {
namespace {

using Values = std::vector<int8_t>;

TEST(IntegerArithmetic, RoundsHalvesAwayFromZero) {
  for (int64_t v = -40; v <= 40; ++v)
    for (int32_t shift = 0; shift <= 4; ++shift)
      EXPECT_EQ(rounded_shift(v, shift), std::llround(std::ldexp(static_cast<double>(v), -shift)))
          << v << " / 2^" << shift;
  EXPECT_EQ(rounded_shift(int64_t{1} << 61, 62), 1);
  EXPECT_EQ(rounded_shift(-(int64_t{1} << 61), 62), -1);
  EXPECT_EQ(rounded_shift((int64_t{1} << 61) - 1, 62), 0);
}

/// 1 / 2^shift of the sums, of so many channels.
std::vector<IntegerChannel> channels(size_t count, int32_t shift = 0) {
  return std::vector<IntegerChannel>(count, {0, 1, shift});
}

TEST(IntegerProduct, IsThatOfMatrices) {
  IntegerProduct p;
  p.op.in = p.op.out = {1, 1, 2};
  p.op.channels = 3;
  p.op.outputs = 2;
  const Values a = {1, 2, 3, -4, 5, -6}, w = {1, 0, 0, 1, 2, -1};
  const auto one = channels(2);
  p.a = a;
  p.weights = w;
  p.channels = one;
  EXPECT_EQ(integer_product(p), (Values{7, -1, -16, 11}));
  p.relu = true;
  p.out_zero = 3;
  EXPECT_EQ(integer_product(p), (Values{10, 3, 3, 14}));
  p.op.a_transposed = true;  // the same A, column by column
  const Values turned = {1, -4, 2, 5, 3, -6};
  p.a = turned;
  EXPECT_EQ(integer_product(p), (Values{10, 3, 3, 14}));
}

TEST(IntegerProduct, PadsWithTheZeroPointAndStepsAndDilates) {
  IntegerProduct p;
  p.op.in = {1, 1, 5};
  p.op.out = {1, 1, 3};
  p.op.kernel = {1, 1, 3};
  p.op.stride = {1, 1, 2};
  p.op.dilation = {1, 1, 2};
  p.op.pad = {0, 0, 2};
  const Values a = {1, 2, 3, 4, 5}, w = {1, 10, 3};
  const auto one = channels(1);
  p.a = a;
  p.weights = w;
  p.channels = one;
  p.a_zero = -7;
  // x = -2, 0, 2; 0, 2, 4; 2, 4, 6
  EXPECT_EQ(integer_product(p), (Values{-7 + 10 + 9, 1 + 30 + 15, 3 + 50 - 21}));
}

TEST(IntegerProduct, GroupsAreChannelsOfTheSamePixels) {
  IntegerProduct p;
  p.op.batch = 2;
  p.op.grouped = true;
  p.op.in = p.op.out = {1, 1, 2};
  const Values a = {1, 2, 3, 4}, w = {10, -1};
  const auto one = channels(2);
  p.a = a;
  p.weights = w;
  p.channels = one;
  EXPECT_EQ(integer_product(p), (Values{10, -2, 30, -4}));
}

/// Sums wrap at 32 bits, a table comes before what is added, a clip of the sum behind it.
TEST(IntegerProduct, SaysWhatComesOfASum) {
  IntegerProduct p;
  const Values a = {2}, w = {3};
  std::vector<IntegerChannel> one = {{INT32_MAX - 5, 1, 24}};
  p.a = a;
  p.weights = w;
  p.channels = one;
  EXPECT_EQ(integer_product(p), Values{-128}) << "2^31 - 6 + 6 is -2^31";
  one = {{1, 5, 1}};  // (6 + 1) * 5 / 2 = 17.5
  p.channels = one;
  EXPECT_EQ(integer_product(p), Values{18});
  Values table(256);
  std::iota(table.begin(), table.end(), int8_t{-128});
  table[18 + 128] = -50;
  p.table = table;
  EXPECT_EQ(integer_product(p), Values{-50});
  const Values r = {41};
  const IntegerAddend addend{r, 1, 3, 2};  // 40 * 3 / 4
  p.addend = &addend;
  EXPECT_EQ(integer_product(p), Values{-20});
  p.clips_sum = true;
  p.out_zero = -2;  // the sum is 16 then, which isn't looked up as anything else
  EXPECT_EQ(integer_product(p), Values{46});
  const Values low = {-100};
  const IntegerAddend less{low, 0, 1, 0};
  p.addend = &less;
  EXPECT_EQ(integer_product(p), Values{-2});
}

TEST(IntegerProduct, GroupsOfScalesAddUpBeforeRounding) {
  IntegerProduct p;
  p.op.channels = 4;
  p.scale_group = 2;
  const Values a = {1, 2, 3, 4}, w = {1, 1, 1, 1};
  const std::vector<IntegerChannel> one = {{0, 3, 1}};
  const std::vector<int16_t> scales = {-2};
  p.a = a;
  p.weights = w;
  p.channels = one;
  p.scales = scales;
  EXPECT_EQ(integer_product(p), Values{-3}) << "(3 * 3 - 7 * 2) / 2 = -2.5";
}

TEST(IntegerLanes, DoesArithmeticWithBroadcasts) {
  IntegerLanes p;
  p.work.axes = {{.count = 2, .a = 3, .b = 0}, {.count = 3, .a = 1, .b = 1}};
  p.work.b_port = 1;
  const Values a = {1, 2, 3, 4, 5, 6}, b = {10, 20, 30};
  p.a = a;
  p.b = b;
  const auto gives = [&](sim::LaneArithmetic op) {
    p.work.op = op;
    return integer_lanes(p);
  };
  EXPECT_EQ(gives(sim::LaneArithmetic::add), (Values{11, 22, 33, 14, 25, 36}));
  EXPECT_EQ(gives(sim::LaneArithmetic::sub), (Values{-9, -18, -27, -6, -15, -24}));
  EXPECT_EQ(gives(sim::LaneArithmetic::sub_from), (Values{9, 18, 27, 6, 15, 24}));
  EXPECT_EQ(gives(sim::LaneArithmetic::mul), (Values{10, 40, 90, 40, 100, 127}));
  p.a_zero = 1;
  p.b_zero = 10;
  p.b_multiplier = 2;
  p.scale = {6, 1};
  EXPECT_EQ(gives(sim::LaneArithmetic::add), (Values{0, 13, 26, 9, 22, 35}));
  EXPECT_EQ(gives(sim::LaneArithmetic::max), (Values{0, 10, 20, 9, 12, 20}));
  EXPECT_EQ(gives(sim::LaneArithmetic::min), (Values{0, 3, 6, 0, 10, 15}));
}

TEST(IntegerLanes, TurnsPairs) {
  IntegerLanes p;
  p.work.axes = {{.count = 2, .a = 4, .b = 0}, {.count = 2, .a = 2, .b = 2}, {2, 1, 1}};
  p.work.axes[1].turned = true;
  p.work.op = sim::LaneArithmetic::mul;
  p.work.b_port = 1;
  const Values a = {1, 2, 3, 4, 5, 6, 7, 8}, b = {1, 2, 3, 4};
  p.a = a;
  p.b = b;
  EXPECT_EQ(integer_lanes(p), (Values{-3, -8, 3, 8, -7, -16, 15, 24}));
  p.a_zero = 1;
  p.scale = {3, 1};
  EXPECT_EQ(integer_lanes(p), (Values{-3, -9, 0, 6, -9, -21, 18, 30}))
      << "-(3 - 1) * 1 * 3 / 2 and so on";
}

TEST(IntegerLanes, GathersWindowsAndRuns) {
  IntegerLanes p;
  sim::LaneAxis window{.count = 3, .a = 1};
  window.slide = {.extent = 5, .kernel = 3, .stride = 2, .pad = 1, .counted_to = 5};
  p.work.axes = {window};
  const Values a = {5, -7, 9, 20, 1};
  p.a = a;
  p.work.gather = sim::LaneGather::max;
  EXPECT_EQ(integer_lanes(p), (Values{5, 20, 20}));
  p.work.gather = sim::LaneGather::sum;
  EXPECT_EQ(integer_lanes(p), (Values{-2, 22, 21}));
  p.work.gather = sim::LaneGather::mean;  // of 2, 3 and 2 elements
  p.mean = [](int64_t count) { return IntegerScale{count == 3 ? 1 << 4 : 1 << 5, 6}; };
  EXPECT_EQ(integer_lanes(p), (Values{-1, 6, 11})) << "-1, 5.5, 10.5";
  IntegerLanes across;
  across.work.axes = {{.count = 2, .a = 3}};
  across.work.across = 3;
  across.work.gather = sim::LaneGather::min;
  const Values rows = {3, 1, 2, -4, -5, -6};
  across.a = rows;
  EXPECT_EQ(integer_lanes(across), (Values{1, -6}));
}

/// Against the definition in double, within the bound of docs/vector-arithmetic.md; the tables are
/// the exponentials of a scale of 1/8.
TEST(IntegerRows, SoftmaxIsWithinItsBound) {
  std::mt19937 random(1);
  IntegerRows p;
  p.work.rows = {1, 1, 1, 20};
  p.work.row_stride = {0, 0, 0, 30};
  p.work.run = 30;
  p.out_zero = -128;
  for (size_t i = 0; i < 64; ++i) {
    const auto table = [](double below) {
      return static_cast<int32_t>(std::llround(std::exp(-below / 8) * 0x1p30));
    };
    p.softmax.coarse[i] = table(64.0 * static_cast<double>(i));
    p.softmax.fine[i] = table(static_cast<double>(i));
  }
  Values in(600);
  for (int8_t& v : in) v = static_cast<int8_t>(random());
  p.in = in;
  const Values out = integer_rows(p).rows;
  for (size_t row = 0; row < 20; ++row) {
    double sum = 0;
    for (size_t i = 0; i < 30; ++i) sum += std::exp(in[row * 30 + i] / 8.0);
    for (size_t i = 0; i < 30; ++i) {
      const double real = std::min(255.0, 256 * std::exp(in[row * 30 + i] / 8.0) / sum);
      EXPECT_NEAR(out[row * 30 + i] + 128, real, 0.51);
    }
  }
}

TEST(IntegerRows, NormalisationsAreWithinTheirBounds) {
  std::mt19937 random(2);
  for (const sim::RowKind kind : {sim::RowKind::layer_norm, sim::RowKind::rms_norm}) {
    IntegerRows p;
    p.work.kind = kind;
    p.work.rows = {1, 1, 1, 10};
    p.work.row_stride = {0, 0, 0, 48};
    p.work.run = 48;
    p.norm.in_zero = 5;
    p.out_zero = 3;
    // gamma / o = 30 + channel, beta / o = channel; 27 fraction bits of 48 normalised elements.
    for (int32_t c = 0; c < 48; ++c) p.norm.channels.push_back({c << 20, (30 + c) << 20, 27});
    Values in(480);
    for (int8_t& v : in) v = static_cast<int8_t>(random());
    p.in = in;
    const Values out = integer_rows(p).rows;
    for (size_t row = 0; row < 10; ++row) {
      double mean = 0, squares = 0;
      for (size_t i = 0; i < 48; ++i) mean += (in[row * 48 + i] - 5) / 48.0;
      if (kind == sim::RowKind::rms_norm) mean = 0;
      for (size_t i = 0; i < 48; ++i) squares += std::pow(in[row * 48 + i] - 5 - mean, 2) / 48;
      for (size_t i = 0; i < 48; ++i) {
        const auto c = static_cast<double>(i);
        const double unit = (in[row * 48 + i] - 5 - mean) / std::sqrt(squares);
        EXPECT_NEAR(out[row * 48 + i], std::clamp(unit * (30 + c) + c + 3, -128.0, 127.0), 0.501);
      }
    }
  }
}

TEST(IntegerGather, PicksRowsOfEachGroup) {
  const Values data = {1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16};  // two groups of three rows
  IntegerGather p;
  p.rows = {.groups = 2, .rows = 3, .row = 2, .count = 3};
  p.data = data;
  // The second one is 256, beyond the rows: the last one.
  const Values words = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0};
  p.indices = words;
  EXPECT_EQ(integer_rows_picked(p), (Values{3, 4, 5, 6, 1, 2, 13, 14, 15, 16, 11, 12}));
  // Of eight bytes the lower four count.
  const Values wide = {2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, -1};
  p.index_bytes = 8;
  p.indices = wide;
  EXPECT_EQ(integer_rows_picked(p), (Values{5, 6, 1, 2, 3, 4, 15, 16, 11, 12, 13, 14}));
}

}  // namespace
}  // namespace accsim::sim::ref
