#include "sim/lower/row_layout.h"

#include <gtest/gtest.h>

#include "sim/elaborate/elaborate.h"
#include "sim/lower/lower.h"
#include "sim/operators/norm/row_rules.h"
#include "tests/support/models.h"

namespace accsim::sim {
namespace {

using test::ModelBuilder;

/// The rows of the network's one vector op; nothing where it has none.
std::optional<RowWork> rows_of(const ModelBuilder& b) {
  auto graph = elaborate(b.model(), {});
  EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
  const auto lowered = lower_in_memory(*graph);
  EXPECT_TRUE(lowered.ok());
  for (const Layer& l : lowered->layers)
    if (!l.work.empty()) return std::get<VectorOp>(l.work.back()).row_work;
  ADD_FAILURE() << "no work";
  return std::nullopt;
}

Attribute number(const std::string& name, int64_t value) { return {name, "", value}; }

RowWork softmax_of(const Dims& dims, int64_t axis, int64_t opset = 13) {
  ModelBuilder b(opset);
  b.input("x", dims).node("Softmax", {"x"}, {"y"}, {number("axis", axis)}).output("y");
  const auto out = rows_of(b);
  EXPECT_TRUE(out.has_value());
  return out.value_or(RowWork{});
}

RowWork norm_of(const std::string& op, const Dims& dims, const Dims& channels,
                const std::vector<Attribute>& attributes = {}) {
  ModelBuilder b(21);
  b.input("x", dims).weight("gain", channels).weight("shift", channels);
  b.node(op, {"x", "gain", "shift"}, {"y"}, attributes).output("y");
  const auto out = rows_of(b);
  EXPECT_TRUE(out.has_value());
  return out.value_or(RowWork{});
}

TEST(RowLayout, ASoftmaxAlongTheLastDimHasContiguousRows) {
  const RowWork w = softmax_of({2, 3, 4, 5}, -1);
  EXPECT_EQ(w.rows, (RowNest{1, 1, 1, 24}));
  EXPECT_EQ(w.row_stride, (RowNest{0, 0, 0, 5}));
  EXPECT_EQ(w.pieces, 1);
  EXPECT_EQ(w.run, 5);
}

TEST(RowLayout, ASoftmaxAlongAnotherDimHasPieces) {
  const RowMeaning m = row_meaning(RowKind::softmax, {2, 3, 4, 5}, 2, 3, false);
  for (const Layout& layout : {row_major_layout({2, 3, 4, 5}), memory_axes(m)}) {
    const auto w = row_work(m, layout);
    ASSERT_TRUE(w.has_value());
    EXPECT_EQ(w->rows, (RowNest{1, 1, 6, 5}));
    EXPECT_EQ(w->row_stride, (RowNest{0, 0, 20, 1}));
    EXPECT_EQ(w->pieces, 4);
    EXPECT_EQ(w->piece_stride, 5);
    EXPECT_EQ(w->run, 1);
  }
}

TEST(RowLayout, ASoftmaxAlongAnotherDimIsLaidOutForIt) {
  const RowWork w = softmax_of({2, 3, 4, 5}, 2);
  EXPECT_EQ(w.rows, (RowNest{1, 1, 1, 30}));
  EXPECT_EQ(w.row_stride, (RowNest{0, 0, 0, 4}));
  EXPECT_EQ(w.run, 4);
}

TEST(RowLayout, ASoftmaxOverChannelsHasPixelsAsRows) {
  const RowWork w = softmax_of({2, 6, 4, 5}, 1);
  EXPECT_EQ(w.rows, (RowNest{1, 1, 1, 40}));
  EXPECT_EQ(w.row_stride, (RowNest{0, 0, 0, 6}));
  EXPECT_EQ(w.run, 6);
  EXPECT_EQ(w.pieces, 1);
}

TEST(RowLayout, AnOldSoftmaxTakesAllFromItsAxisOn) {
  const RowWork w = softmax_of({2, 3, 4, 5}, 2, 11);
  EXPECT_EQ(w.rows, (RowNest{1, 1, 1, 6}));
  EXPECT_EQ(w.run, 20);
}

TEST(RowLayout, ALayerNormHasAChannelAnElement) {
  const RowWork w = norm_of("LayerNormalization", {2, 3, 4, 5}, {4, 5}, {number("axis", 2)});
  EXPECT_EQ(w.kind, RowKind::layer_norm);
  EXPECT_EQ(w.rows, (RowNest{1, 1, 1, 6}));
  EXPECT_EQ(w.run, 20);
  EXPECT_EQ(w.per_channel, 1);
  EXPECT_EQ(w.channel_stride, RowNest{});
}

/// In memory N, C, H, W: the 20 pixels of two channels are a row.
TEST(RowLayout, AGroupNormsRowsAreItsPlanes) {
  const RowWork w = norm_of("GroupNormalization", {2, 6, 4, 5}, {6}, {number("num_groups", 3)});
  EXPECT_EQ(w.kind, RowKind::layer_norm);
  EXPECT_EQ(w.rows, (RowNest{1, 1, 2, 3}));
  EXPECT_EQ(w.row_stride, (RowNest{0, 0, 120, 40}));
  EXPECT_EQ(w.pieces, 1);
  EXPECT_EQ(w.run, 40);
  EXPECT_EQ(w.per_channel, 20);
  EXPECT_EQ(w.channel_stride, (RowNest{0, 0, 0, 2}));
}

/// In memory N, H, W, C: of each of 4 pixels a group has 32 channels.
TEST(RowLayout, AGroupNormOfFewPixelsHasAPieceAPixel) {
  const RowWork w = norm_of("GroupNormalization", {2, 96, 2, 2}, {96}, {number("num_groups", 3)});
  EXPECT_EQ(w.rows, (RowNest{1, 1, 2, 3}));
  EXPECT_EQ(w.row_stride, (RowNest{0, 0, 384, 32}));
  EXPECT_EQ(w.pieces, 4);
  EXPECT_EQ(w.piece_stride, 96);
  EXPECT_EQ(w.run, 32);
  EXPECT_EQ(w.per_channel, 1);
  EXPECT_EQ(w.channel_stride, (RowNest{0, 0, 0, 32}));
}

TEST(RowLayout, AGroupNormOfVectorsHasNoPixels) {
  const RowWork w = norm_of("GroupNormalization", {2, 6}, {6}, {number("num_groups", 3)});
  EXPECT_EQ(w.rows, (RowNest{1, 1, 2, 3}));
  EXPECT_EQ(w.row_stride, (RowNest{0, 0, 6, 2}));
  EXPECT_EQ(w.run, 2);
  EXPECT_EQ(w.channel_stride, (RowNest{0, 0, 0, 2}));
}

TEST(RowLayout, AnInstanceNormsRowsAreItsPlanes) {
  const RowWork w = norm_of("InstanceNormalization", {2, 6, 4, 5}, {6});
  EXPECT_EQ(w.rows, (RowNest{1, 1, 2, 6}));
  EXPECT_EQ(w.row_stride, (RowNest{0, 0, 120, 20}));
  EXPECT_EQ(w.pieces, 1);
  EXPECT_EQ(w.run, 20);
  EXPECT_EQ(w.channel_stride, (RowNest{0, 0, 0, 1}));
}

/// The same meaning in another layout: of N, C, H, W as they stand a row is contiguous.
TEST(RowLayout, WhereChannelsComeFirstTheyAreLongRuns) {
  RowMeaning m = row_meaning(RowKind::layer_norm, {2, 6, 20}, 2, 3, false);
  m.axes[1].channel = true;
  const auto w = row_work(m, std::vector<MoveAxis>{{2, 120}, {6, 20}, {20, 1}});
  ASSERT_TRUE(w.has_value());
  EXPECT_EQ(w->run, 20);
  EXPECT_EQ(w->per_channel, 20);
  EXPECT_EQ(w->rows, (RowNest{1, 1, 2, 6}));
  EXPECT_EQ(w->channel_stride, (RowNest{0, 0, 0, 1}));
}

/// An element of a mask is broadcast, so that heads, which share rows of it, are a level.
TEST(RowLayout, AMaskHasStridesOfItsOwn) {
  RowMeaning m = row_meaning(RowKind::softmax, {2, 3, 4, 5}, 3, 4, false);
  m.mask_port = 1;
  m.axes[0].mask_stride = 20;  // 2 x 1 x 4 x 5
  m.axes[2].mask_stride = 5;
  m.axes[3].mask_stride = 1;
  const auto w = row_work(m, memory_axes(m));
  ASSERT_TRUE(w && w->mask);
  EXPECT_EQ(w->rows, (RowNest{1, 2, 3, 4}));
  EXPECT_EQ(w->row_stride, (RowNest{0, 60, 20, 5}));
  EXPECT_EQ(w->mask->row_stride, (RowNest{0, 20, 0, 5}));
  EXPECT_EQ(w->mask->elements, 40);
}

TEST(RowLayout, WhatNoCommandCanSayHasNoRows) {
  // Channels that don't follow one another in memory.
  RowMeaning across = row_meaning(RowKind::layer_norm, {2, 6, 20}, 1, 2, true);
  EXPECT_FALSE(row_work(across, memory_axes(across)).has_value());
  // A row's pieces nested twice.
  RowMeaning far = row_meaning(RowKind::layer_norm, {2, 3, 4, 5}, 0, 1, false);
  far.axes[2].reduced = true;
  EXPECT_FALSE(row_work(far, memory_axes(far)).has_value());
  // A mask of one element a row.
  RowMeaning m = row_meaning(RowKind::softmax, {4, 5}, 1, 2, false);
  m.mask_port = 1;
  m.axes[0].mask_stride = 1;
  EXPECT_FALSE(row_work(m, memory_axes(m)).has_value());
}

/// 6 rows of 5 that a layout of 3 and 2 of them puts in another order.
TEST(RowLayout, RowsThatAreTreatedAlikeMayLieInAnyOrder) {
  const Layout turned{{2, 5}, {3, 10}, {5, 1}};
  RowMeaning alike = row_meaning(RowKind::softmax, {6, 5}, 1, 2, false);
  const auto w = row_work(alike, turned);
  ASSERT_TRUE(w.has_value());
  EXPECT_EQ(w->rows, (RowNest{1, 1, 1, 6}));
  EXPECT_EQ(w->row_stride, (RowNest{0, 0, 0, 5}));
  EXPECT_EQ(w->run, 5);
  // Two rows beside one another, then two further ones: the layout joins both with their elements.
  RowMeaning joined = row_meaning(RowKind::softmax, {2, 2, 2, 5}, 3, 4, false);
  joined.axes = {{8, 5}, {5, 1, true}};
  const auto both = row_work(joined, Layout{{2, 10}, {2, 20}, {10, 1}});
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->rows, (RowNest{1, 1, 1, 8}));
  // Elements of a row apart.
  EXPECT_FALSE(row_work(alike, Layout{{2, 5}, {5, 1}, {3, 10}})->pieces == 1);
  // A mask, or a channel, that tells rows apart.
  RowMeaning masked = alike, channels = alike;
  masked.mask_port = 1;
  masked.axes[0].mask_stride = 1;
  EXPECT_FALSE(row_work(masked, turned).has_value());
  channels.axes[0].channel = true;
  EXPECT_FALSE(row_work(channels, turned).has_value());
}

TEST(RowLayout, WhatAnOperatorDoesMoreItHasNoRowsFor) {
  ModelBuilder dynamic(17), statistics(17), clipped;
  dynamic.input("x", {4, 8}).input("gain", {8});
  dynamic.node("LayerNormalization", {"x", "gain"}, {"y"}).output("y");
  EXPECT_FALSE(rows_of(dynamic).has_value()) << "a gain that isn't known off line";
  statistics.input("x", {4, 8}).weight("gain", {8});
  statistics.node("LayerNormalization", {"x", "gain"}, {"y", "mean"}).output("y").output("mean");
  EXPECT_FALSE(rows_of(statistics).has_value());
  clipped.input("x", {4, 8}).node("Softmax", {"x"}, {"s"}).node("Relu", {"s"}, {"y"}).output("y");
  EXPECT_FALSE(rows_of(clipped).has_value()) << "something is merged into it";
}

}  // namespace
}  // namespace accsim::sim
