#include "sim/lower/pitched_work.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/index.h"

namespace accsim::sim {
namespace {

/// All operands of a layer dense but input `in` and output 0.
PortPitches pitches(const Pitch& in, const Pitch& out, ValuePort port = 0) {
  return {[=](ValuePort p) { return p == port ? in : Pitch{}; }, [=](ValuePort) { return out; }};
}

Layer layer_of(WorkItem item) {
  Layer out;
  out.work = {std::move(item)};
  return out;
}

/// Elements of the operands that a lane op touches for each result, in order.
using Touched = std::vector<std::array<int64_t, 2>>;
Touched touched(const LaneWork& w, const Pitch& a) {
  Touched out{{0, 0}};
  for (const LaneAxis& x : w.axes) {
    Touched next;
    for (const auto& [from, b] : out)
      for (int64_t i = 0; i < x.count; ++i) next.push_back({from + i * x.a, b + i * x.b});
    out = std::move(next);
  }
  for (auto& [from, b] : out) from = a.offset_of(from);
  return out;
}

/// Does each axis of an operand go from row to row, or stay in one that all within it have?
bool is_cut(const std::vector<std::pair<int64_t, int64_t>>& axes, const Pitch& p) {
  int64_t within = 1;
  for (const auto& [count, stride] : axes) {
    if (count == 1 || stride % p.run == 0) continue;
    within += (count - 1) * stride;
  }
  return within <= p.run;
}

TEST(PitchedWork, HasLaneOperationsTheSameResultsInAxesThatKeepToRows) {
  std::mt19937 random(1);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  int done = 0;
  for (int i = 0; i < 500; ++i) {
    const int64_t row = pick(1, 6) * pick(1, 3), rows = pick(2, 6);
    LaneWork w;
    const int64_t inner = row % 2 == 0 ? row / 2 : row;
    const int64_t outer = rows * row / inner;
    w.axes = {{outer, inner, 0, {.extent = outer}}, {inner, 1, 1, {.extent = inner}}};
    if (pick(0, 1) == 0) w.axes = {{rows * row, 1, 1, {.extent = rows * row}}};
    const Pitch in = pick(0, 2) > 0 ? Pitch{row, row + pick(1, 5)} : Pitch{};
    const Pitch out = in.is_dense() || pick(0, 1) == 0 ? Pitch{row, row + 3} : Pitch{};
    VectorOp op{{{0, rows * row, 0}}, {{0, rows * row, 0}}};
    op.lane = w;
    const auto work = pitched_work(layer_of(op), pitches(in, out));
    ASSERT_TRUE(work.has_value());
    const LaneWork& cut = *std::get<VectorOp>(work->at(0)).lane;
    EXPECT_EQ(touched(cut, in), touched(w, in));
    std::vector<std::pair<int64_t, int64_t>> a, y;
    int64_t next = 1;
    for (size_t k = cut.axes.size(); k-- > 0; next *= cut.axes[k].count) {
      a.push_back({cut.axes[k].count, cut.axes[k].a});
      y.push_back({cut.axes[k].count, next});
      EXPECT_EQ(cut.axes[k].slide.extent, cut.axes[k].count);
    }
    EXPECT_TRUE(in.is_dense() || is_cut(a, in));
    EXPECT_TRUE(out.is_dense() || is_cut(y, out));
    ++done;
  }
  EXPECT_EQ(done, 500);
}

/// Elements of both sides of a move, pair by pair.
std::vector<std::pair<int64_t, int64_t>> pairs(const MemoryOp& op) {
  std::vector<std::pair<int64_t, int64_t>> out{{op.from, op.to}};
  const std::vector<int64_t> spacing = spacing_of(op);
  for (size_t k = 0; k < op.axes.size(); ++k) {
    std::vector<std::pair<int64_t, int64_t>> next;
    for (const auto& [from, to] : out)
      for (int64_t i = 0; i < op.axes[k].count; ++i)
        next.emplace_back(from + i * op.axes[k].stride, to + i * spacing[k]);
    out = std::move(next);
  }
  return out;
}

TEST(PitchedWork, HasMovesTheElementsWhereTheyLie) {
  const Pitch in{12, 20}, out{8, 11};
  // [4][6] of a tensor of [8][12], to a tensor of [3][8]; and turned.
  for (const bool turned : {false, true}) {
    MemoryOp op = box_move({{4, 24, 6}, {6, 1, 1}}, 0, 0, 12 + 3, 0);
    if (turned) op = {{{0, 96, 8}}, {{0, 96, 12}}, {{12, 1}, {8, 12}}};
    const auto work = pitched_work(layer_of(op), pitches(in, turned ? out : Pitch{}));
    ASSERT_TRUE(work.has_value());
    auto expected = pairs(op);
    for (auto& [from, to] : expected) {
      from = in.offset_of(from);
      if (turned) to = out.offset_of(to);
    }
    EXPECT_EQ(pairs(std::get<MemoryOp>(work->at(0))), expected);
  }
}

TEST(PitchedWork, IsRefusedWhereARowWouldBeBroken) {
  // Five of a row of eight, over and over.
  MemoryOp move = box_move({{6, 5, 5}, {5, 1, 1}}, 0, 0, 0, 0);
  EXPECT_FALSE(pitched_work(layer_of(move), pitches({8, 16}, {})));
  // A box that begins in the middle of a row and ends in the next one.
  move = box_move({{2, 16, 8}, {8, 1, 1}}, 0, 0, 4, 0);
  EXPECT_FALSE(pitched_work(layer_of(move), pitches({8, 16}, {})));
  // Moves of which nobody knows what goes where.
  EXPECT_FALSE(pitched_work(layer_of(MemoryOp{{{0, 64, 0}}, {{0, 64, 0}}}), pitches({8, 16}, {})));
  // Windows over elements of several rows.
  VectorOp op{{{0, 32, 0}}, {{0, 30, 0}}};
  op.lane = LaneWork{};
  op.lane->gather = LaneGather::max;
  op.lane->axes = {{30, 1, 0, {.extent = 32, .kernel = 3}}};
  EXPECT_FALSE(pitched_work(layer_of(op), pitches({8, 16}, {})));
}

TEST(PitchedWork, HasProductsWithAPitchFromPixelToPixel) {
  GemmOp op;
  op.channels = 16;
  op.outputs = 24;
  op.in = op.out = {1, 5, 5};
  const auto takes = [&](const Pitch& in, const Pitch& out, int port) {
    return pitched_work(layer_of(op), pitches(in, out, port)).has_value();
  };
  EXPECT_TRUE(takes({16, 48}, {24, 25}, 0));
  EXPECT_FALSE(takes({32, 48}, {}, 0)) << "pixels by two";
  EXPECT_FALSE(takes({}, {12, 24}, 0)) << "half of a pixel";
  EXPECT_FALSE(takes({24, 48}, {}, 1)) << "weights";
  Layer layer = layer_of(op);
  layer.residual = 2;
  EXPECT_TRUE(pitched_work(layer, pitches({24, 48}, {}, 2)).has_value());
  EXPECT_FALSE(pitched_work(layer, pitches({16, 48}, {}, 2)).has_value());
}

/// A product of `batch` matrices of m x k and k x n.
GemmOp matrices(int64_t batch, int64_t m, int64_t k, int64_t n) {
  GemmOp op;
  op.batch = batch;
  op.channels = k;
  op.outputs = n;
  op.in[2] = op.out[2] = m;
  return op;
}

TEST(PitchedWork, HasProductsWithMatricesOfAPitch) {
  GemmOp op = matrices(4, 6, 16, 24);
  const auto takes = [&](const Pitch& in, int port) {
    return pitched_work(layer_of(op), pitches(in, {}, port)).has_value();
  };
  EXPECT_TRUE(takes({24, 48}, 1)) << "columns of a matrix";
  EXPECT_TRUE(takes({16 * 24, 1000}, 1)) << "rows of each matrix";
  EXPECT_FALSE(takes({8 * 24, 1000}, 1)) << "half a matrix";
  EXPECT_FALSE(takes({2 * 16 * 24, 1000}, 1)) << "two matrices";
  EXPECT_FALSE(takes({12, 48}, 1)) << "half a row";
  EXPECT_TRUE(takes({6 * 16, 1000}, 0));
  op.b_transposed = true;
  EXPECT_TRUE(takes({16, 48}, 1)) << "a row is a column of the operand";
  EXPECT_FALSE(takes({24, 48}, 1));
  op.a_transposed = true;
  EXPECT_TRUE(takes({6, 48}, 0));
  EXPECT_TRUE(takes({6 * 16, 1000}, 0));
  EXPECT_FALSE(takes({16, 48}, 0));
}

/// Heads that share keys: rows of one product, of which each head's lie by themselves.
TEST(PitchedWork, CutsRowsOfAProductIntoImages) {
  const GemmOp op = matrices(2, 3 * 5, 16, 24);
  const auto cut = [&](const Pitch& in, const Pitch& out) {
    const auto work = pitched_work(layer_of(op), pitches(in, out));
    return work ? std::optional(std::get<GemmOp>(work->at(0))) : std::nullopt;
  };
  GemmOp images = op;
  images.images = 3;
  images.in[2] = images.out[2] = 5;
  EXPECT_EQ(cut({5 * 16, 1000}, {}), images);
  EXPECT_EQ(cut({}, {5 * 24, 2000}), images);
  EXPECT_EQ(cut({5 * 16, 1000}, {5 * 24, 2000}), images);
  EXPECT_EQ(cut({16, 1000}, {5 * 24, 2000}), images) << "single rows beside them";
  EXPECT_EQ(cut({5 * 16, 1000}, {3 * 24, 2000}), std::nullopt) << "others";
  EXPECT_EQ(cut({4 * 16, 1000}, {}), std::nullopt) << "some of two heads";
  EXPECT_EQ(images.macs(), op.macs());
}

/// Elements of the rows, row by row.
std::vector<int64_t> elements_of(const RowWork& w) {
  std::vector<int64_t> out{0};
  const auto level = [&](int64_t count, int64_t stride) {
    std::vector<int64_t> next;
    for (const int64_t at : out)
      for (int64_t i = 0; i < count; ++i) next.push_back(at + i * stride);
    out = std::move(next);
  };
  for (size_t l = 0; l < kRowLevels; ++l) level(w.rows[l], w.row_stride[l]);
  level(w.pieces, w.piece_stride);
  level(w.run, 1);
  return out;
}

TEST(PitchedWork, CutsANestOfRows) {
  RowWork w;
  w.rows = {1, 1, 2, 40};
  w.row_stride = {0, 0, 640, 16};
  w.run = 16;
  VectorOp op{{{0, 1280, 0}}, {{0, 1280, 0}}};
  op.row_work = w;
  const Pitch in{64, 144};
  const auto work = pitched_work(layer_of(op), pitches(in, {}));
  ASSERT_TRUE(work.has_value());
  const RowWork& cut = *std::get<VectorOp>(work->at(0)).row_work;
  EXPECT_EQ(elements_of(cut), elements_of(w));
  std::vector<std::pair<int64_t, int64_t>> axes{{cut.run, 1}};
  for (size_t l = 0; l < kRowLevels; ++l) axes.emplace_back(cut.rows[l], cut.row_stride[l]);
  EXPECT_TRUE(is_cut(axes, in));
  w.rows = {2, 2, 2, 40};
  w.row_stride = {2560, 1280, 640, 16};
  op.row_work = w;
  EXPECT_FALSE(pitched_work(layer_of(op), pitches(in, {}))) << "no level is left";
}

}  // namespace
}  // namespace accsim::sim
