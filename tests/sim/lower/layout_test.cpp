#include "sim/lower/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/sim/lower/memory_contents.h"

namespace accsim::sim {
namespace {

using test::as_index;
using test::before_transpose;
using test::contents;

int64_t pick(std::mt19937& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

Dims random_dims(std::mt19937& random) {
  Dims dims(as_index(pick(random, 1, 4)));
  for (int64_t& d : dims) d = pick(random, 1, 6);
  return dims;
}

DimOrder random_order(size_t rank, std::mt19937& random) {
  DimOrder order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::shuffle(order, random);
  return order;
}

TEST(Layout, IsChannelsLastPixelByPixel) {
  EXPECT_EQ(channels_last_layout({2, 3, 4, 5}), (Layout{{2, 60}, {20, 1}, {3, 20}}));
  EXPECT_EQ(channels_last_layout({1, 3, 4, 5}), (Layout{{20, 1}, {3, 20}}));
  EXPECT_EQ(channels_last_layout({1, 3, 1, 1}), row_major_layout({3}));
  EXPECT_EQ(channels_last_layout({2, 3, 7}), (Layout{{2, 21}, {7, 1}, {3, 7}}));
  EXPECT_EQ(row_major_layout({2, 3}), (Layout{{6, 1}}));
  EXPECT_EQ(row_major_layout({1, 1}), Layout{});
}

TEST(Layout, PutsTheDimsInTheOrderAskedFor) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const Dims dims = random_dims(random);
    const DimOrder order = random_order(dims.size(), random);
    const Layout layout = layout_in_order(dims, order);
    // Element n of the tensor with its dims in that order is the transpose's.
    const std::vector<int64_t> perm(order.begin(), order.end());
    const std::vector<int64_t> memory = contents(layout);
    ASSERT_EQ(std::ssize(memory), elements(dims));
    for (size_t n = 0; n < memory.size(); ++n)
      ASSERT_EQ(memory[n], before_transpose(static_cast<int64_t>(n), dims, perm));
    const auto found = order_of(layout, dims);
    ASSERT_TRUE(found);
    EXPECT_EQ(contents(layout_in_order(dims, *found)), memory);
  }
}

TEST(Layout, LeavesATransposeTheBytesWhereTheyAre) {
  std::mt19937 random(12);
  for (int round = 0; round < 300; ++round) {
    const Dims dims = random_dims(random);
    const Layout layout = layout_in_order(dims, random_order(dims.size(), random));
    const DimOrder order = random_order(dims.size(), random);
    const std::vector<int64_t> perm(order.begin(), order.end());
    const auto turned = transposed_layout(layout, dims, perm);
    ASSERT_TRUE(turned);
    const auto before = contents(layout), after = contents(*turned);
    for (size_t n = 0; n < before.size(); ++n)
      ASSERT_EQ(before_transpose(after[n], dims, perm), before[n]);
  }
}

TEST(Layout, CopiesByAxesWhatTheOtherLayoutIs) {
  std::mt19937 random(13);
  int free = 0, told = 0, twice = 0;
  for (int round = 0; round < 300; ++round) {
    const Dims dims = random_dims(random);
    const Layout from = layout_in_order(dims, random_order(dims.size(), random));
    const Layout to = layout_in_order(dims, random_order(dims.size(), random));
    const auto axes = copy_axes(from, to);
    ASSERT_TRUE(axes);
    EXPECT_EQ(test::moved(contents(from), *axes), contents(to));
    (from == to ? free : told) += 1;
    EXPECT_EQ(from == to, contents(from) == contents(to)) << "equal orders have equal layouts";
    const ValuePort between = ValuePort::internal(3);
    const Work work = layout_copy(from, to, elements(dims), {3, between, 5});
    std::vector<int64_t> held = contents(from);
    for (const WorkItem& item : work) {
      const auto& op = std::get<MemoryOp>(item);
      EXPECT_EQ(op.inputs.at(0).port, &item == &work.front() ? ValuePort(3) : between);
      EXPECT_EQ(op.outputs.at(0).port, &item == &work.back() ? ValuePort(5) : between);
      EXPECT_EQ(op.inputs[0].elements, elements(dims));
      held = test::moved(held, op.axes);
    }
    EXPECT_EQ(held, contents(to));
    twice += work.size() == 2 ? 1 : 0;
  }
  EXPECT_GT(free, 20);
  EXPECT_GT(told, 20);
  EXPECT_GT(twice, 5) << "through a layout between";
}

TEST(Layout, ShufflesChannelsThroughPlanesOfPixels) {
  // 100 pixels of 3 groups of 8 channels: blocks of 3 x 8 against two of 24 x 64 and 64 x 24.
  const Dims dims{100, 3, 8};
  const Layout from = row_major_layout(dims), to = layout_in_order(dims, {0, 2, 1});
  const Work work = layout_copy(from, to, elements(dims), {});
  ASSERT_EQ(work.size(), 2U);
  const Layout between = layout_in_order(dims, {2, 1, 0});
  EXPECT_EQ(std::get<MemoryOp>(work[0]).axes, copy_axes(from, between));
  EXPECT_EQ(std::get<MemoryOp>(work[1]).axes, copy_axes(between, to));
  // Of 4 pixels blocks would be no wider.
  EXPECT_EQ(layout_copy(row_major_layout({4, 3, 8}), layout_in_order({4, 3, 8}, {0, 2, 1}), 96, {})
                .size(),
            1U);
}

TEST(Layout, SaysWhenAxesAreNoWholePiecesOfDims) {
  // 6 channels beside 5 columns: no axis of 4 is made of either.
  const Layout turned = layout_in_order({6, 10}, {1, 0});
  EXPECT_TRUE(pieces_of(turned, {6, 10}));
  EXPECT_TRUE(pieces_of(turned, {2, 3, 5, 2}));
  EXPECT_FALSE(pieces_of(turned, {4, 15}));
  EXPECT_FALSE(copy_axes(turned, layout_in_order({4, 15}, {1, 0})));
  EXPECT_FALSE(order_of(layout_in_order({6, 10}, {1, 0}), {60})) << "a dim in two pieces";
  const Work work = layout_copy(turned, layout_in_order({4, 15}, {1, 0}), 60, {});
  ASSERT_EQ(work.size(), 1U);
  const auto& op = std::get<MemoryOp>(work[0]);
  EXPECT_TRUE(op.axes.empty());
  EXPECT_EQ(op.inputs[0].run, 1);
}

TEST(Layout, GivesWhatIsBroadcastTheSameRelativeOrder) {
  const Dims dims{2, 3, 4, 5};
  const Layout last = channels_last_layout(dims);
  EXPECT_EQ(broadcast_layout(last, dims, {2, 3, 4, 5}), last);
  EXPECT_EQ(broadcast_layout(last, dims, {2, 3, 1, 1}), row_major_layout({6}));
  EXPECT_EQ(broadcast_layout(last, dims, {3, 4, 1}), (Layout{{4, 1}, {3, 4}}));
  EXPECT_EQ(broadcast_layout(last, dims, {}), Layout{});
  EXPECT_FALSE(broadcast_layout(last, dims, {7}));
}

TEST(Layout, PutsDimsInsideAndKeepsTheOthersOrder) {
  const Dims dims{2, 3, 4};
  const size_t last[] = {2}, both[] = {1, 2};
  const Layout turned = layout_in_order(dims, {2, 1, 0});
  EXPECT_EQ(with_innermost(turned, dims, last), layout_in_order(dims, {1, 0, 2}));
  EXPECT_EQ(with_innermost(turned, dims, both), row_major_layout(dims));
}

}  // namespace
}  // namespace accsim::sim
