#include "sim/lower/lane_meaning.h"

#include <gtest/gtest.h>

#include "tests/sim/map/lane_case.h"

namespace accsim::sim {
namespace {

/// A plain axis that `a` has whole.
LaneAxis axis(int64_t count, int64_t a, int64_t b) {
  return {count, a, b, {.extent = count, .counted_to = count}};
}

std::optional<LaneWork> of_two(const std::string& op, Dims x, Dims y, bool channels_last,
                               bool constant) {
  LaneCaseBuilder b(op, 13);
  b.in(std::move(x), channels_last).in(std::move(y), channels_last && !constant, constant);
  return b.build().work();
}

TEST(LaneMeaning, AreEqualShapesOneAxis) {
  const auto work = of_two("Add", {2, 3, 4, 5}, {2, 3, 4, 5}, true, false);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->op, LaneArithmetic::add);
  EXPECT_EQ(work->axes, (std::vector{axis(120, 1, 1)}));
}

TEST(LaneMeaning, IsASqueezedOperandARunOfChannelsForEveryPixel) {
  const auto work = of_two("Mul", {2, 3, 4, 5}, {2, 3, 1, 1}, true, false);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->axes, (std::vector{axis(2, 60, 3), axis(20, 3, 0), axis(3, 1, 1)}));
}

TEST(LaneMeaning, IsAMaskOfPixelsOneByteForARunOfChannels) {
  const auto work = of_two("Mul", {2, 3, 4, 5}, {2, 1, 4, 5}, true, false);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->axes, (std::vector{axis(40, 3, 1), axis(3, 1, 0)}));
}

TEST(LaneMeaning, IsAMaskOfAttentionScoresARunOfThem) {
  const auto work = of_two("Add", {2, 12, 7, 7}, {2, 1, 1, 7}, false, false);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->axes, (std::vector{axis(2, 588, 7), axis(84, 7, 0), axis(7, 1, 1)}));
}

TEST(LaneMeaning, HaveEmptyTensorsNone) {
  for (const Dims& empty : {Dims{0}, Dims{2, 0}, Dims{0, 3}, Dims{2, 0, 3, 4}})
    EXPECT_FALSE(of_two("Add", empty, empty, false, false)) << accsim::to_string(empty);
  LaneCaseBuilder sum("ReduceSum", 11);
  sum.in({3, 0, 5});
  EXPECT_FALSE(sum.build().work()) << "of nothing, into something";
}

TEST(LaneMeaning, AreConstantsLaidOutAsTheResultIs) {
  const auto work = of_two("Add", {2, 3, 4, 5}, {3, 4, 5}, true, true);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->axes, (std::vector{axis(2, 60, 0), axis(60, 1, 1)}));
}

TEST(LaneMeaning, IsAnOperandThatLiesOtherwiseNoLaneOp) {
  LaneCaseBuilder b("Add", 13);
  b.in({2, 3, 4, 5}, true).in({3, 4, 5});
  EXPECT_FALSE(b.build().work());
}

TEST(LaneMeaning, TakesTheContiguousOperandFirst) {
  const auto work = of_two("Sub", {6, 1}, {1, 5}, false, false);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->op, LaneArithmetic::sub_from);
  EXPECT_EQ(work->a_port, 1);
  EXPECT_EQ(work->axes, (std::vector{axis(6, 0, 1), axis(5, 1, 0)}));
}

TEST(LaneMeaning, AreConstantsOfOneElementFactorsAndOtherFunctionsTables) {
  const auto table = [](LaneCaseBuilder b) {
    const auto work = b.build().work();
    EXPECT_TRUE(work && !work->b_port.is_of_node() && work->op == LaneArithmetic::copy);
    return work && work->table;
  };
  EXPECT_FALSE(table(LaneCaseBuilder("Mul", 13).in({9, 8}).in({1}, false, true)));
  EXPECT_FALSE(table(LaneCaseBuilder("Div", 13).in({9, 8}).in({}, false, true)));
  EXPECT_FALSE(table(LaneCaseBuilder("Relu", 13).in({9, 8})));
  EXPECT_TRUE(table(LaneCaseBuilder("Div", 13).in({}, false, true).in({9, 8})));
  EXPECT_TRUE(table(LaneCaseBuilder("Pow", 13).in({9, 8}).in({}, false, true)));
  EXPECT_TRUE(table(LaneCaseBuilder("Sigmoid", 13).in({9, 8})));
}

TEST(LaneMeaning, LeavesToStreamsWhatNoCommandDoes) {
  EXPECT_FALSE(of_two("Div", {9, 8}, {9, 8}, false, false)) << "quotients of two tensors";
  EXPECT_FALSE(of_two("Pow", {9, 8}, {9, 8}, false, false));
  EXPECT_FALSE(LaneCaseBuilder("Softmax", 13).in({9, 8}).build().work());
  EXPECT_FALSE(LaneCaseBuilder("ReduceL2", 13).in({9, 8}).build().work());
  LaneCaseBuilder three("Max", 13);
  EXPECT_FALSE(three.in({9, 8}).in({9, 8}).in({9, 8}).build().work());
}

TEST(LaneMeaning, DoesAGlobalPoolReduceAllPixelsOfAChannel) {
  const auto work = LaneCaseBuilder("GlobalAveragePool", 13).in({2, 3, 4, 5}, true).build().work();
  ASSERT_TRUE(work);
  EXPECT_EQ(work->gather, LaneGather::mean);
  const LaneAxis pixels{1, 3, 0, {.extent = 20, .kernel = 20, .counted_to = 20}};
  EXPECT_EQ(work->axes, (std::vector{axis(2, 60, 0), pixels, axis(3, 1, 0)}));
}

TEST(LaneMeaning, AreLastAxesReducedAcross) {
  LaneCaseBuilder b("ReduceMean", 13);
  b.in({2, 3, 4, 5}).attr("axes", std::vector<int64_t>{2, 3}).attr("keepdims", int64_t{0});
  const auto work = b.build().work();
  ASSERT_TRUE(work);
  EXPECT_EQ(work->across, 20);
  EXPECT_EQ(work->axes, (std::vector{axis(6, 20, 0)}));
}

TEST(LaneMeaning, CountsWhatPoolingReads) {
  // 7 x 7 in windows of 2 x 2, 2 apart: the last line and column aren't read.
  LaneCaseBuilder b("MaxPool", 13);
  b.in({1, 8, 7, 7}, true).attr("kernel_shape", Dims{2, 2}).attr("strides", Dims{2, 2});
  const auto work = b.build().work();
  ASSERT_TRUE(work);
  EXPECT_EQ(elements_read(*work), 8 * 6 * 6);
}

}  // namespace
}  // namespace accsim::sim
