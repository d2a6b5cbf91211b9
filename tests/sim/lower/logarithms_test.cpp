#include "sim/lower/logarithms.h"

#include <gtest/gtest.h>

#include "tests/sim/lower/laid_out.h"

/// What takes the logarithm of a softmax' sums is part of its command.
namespace accsim::sim {
namespace {

using test::LaidOut;
using test::ModelBuilder;

const Dims kScores = {2, 3, 5, 16};
constexpr int64_t kRows = 2 * 3 * 5;

/// Scores, scaled and masked, a softmax and the logarithm of its sums.
ModelBuilder softmax_and_sum(int64_t axis = -1, int64_t summed = 3, int64_t keepdims = 1) {
  ModelBuilder b(17);
  b.input("s", kScores).input("m", {5, 16});
  b.node("Add", {"s", "m"}, {"z"});
  b.node("Softmax", {"z"}, {"p"}, {{"axis", "", axis}}).output("p");
  b.node("ReduceLogSumExp", {"z"}, {"l"},
         {ModelBuilder::ints("axes", {summed}), {"keepdims", "", keepdims}});
  return b;
}

const RowWork* rows_of(const Layer& l) {
  const auto* op = l.work.empty() ? nullptr : std::get_if<VectorOp>(&l.work.back());
  return op && op->row_work ? &*op->row_work : nullptr;
}

TEST(Logarithms, AreTheSecondOutputOfTheSoftmax) {
  for (const int64_t keepdims : {0, 1}) {
    ModelBuilder b = softmax_and_sum(-1, 3, keepdims);
    const LaidOut n(b.output("l"));
    const Layer& softmax = n.layer("p");
    const Layer& sum = n.layer("l");
    EXPECT_EQ(sum.fate, Fate::folded);
    EXPECT_TRUE(sum.work.empty());
    EXPECT_EQ(sum.merged_into, static_cast<int>(&softmax - n.lowered.layers.data()));
    ASSERT_EQ(softmax.outputs.size(), 2U);
    EXPECT_EQ(softmax.inputs.size(), 2U) << "scores and mask: the sum is part of it";
    const RowWork* rows = rows_of(softmax);
    ASSERT_TRUE(rows && rows->mask && rows->log);
    EXPECT_EQ(rows->log->port, 1);
    EXPECT_EQ(rows->row_count(), kRows);
    EXPECT_EQ(rows->log->row_stride[kRowLevels - 1], 1);
    const auto& op = std::get<VectorOp>(softmax.work.back());
    ASSERT_EQ(op.outputs.size(), 2U);
    EXPECT_EQ(op.outputs[1].elements, kRows);
  }
}

TEST(Logarithms, OfOtherRowsAreWorkOfTheirOwn) {
  for (ModelBuilder b : {softmax_and_sum(2, 3), softmax_and_sum(-1, 2)}) {
    const LaidOut n(b.output("l"));
    EXPECT_FALSE(n.layer("l").work.empty());
    EXPECT_EQ(n.layer("p").outputs.size(), 1U);
  }
}

/// A clip of the logarithms is work on them: no command has it.
TEST(Logarithms, AreLeftAsTheyAreByWhatFollows) {
  ModelBuilder b = softmax_and_sum();
  b.node("Relu", {"l"}, {"y"});
  const LaidOut n(b.output("y"));
  EXPECT_EQ(n.layer("l").fate, Fate::folded);
  EXPECT_EQ(n.layer("p").outputs.size(), 2U);
  EXPECT_FALSE(n.layer("y").work.empty());
}

/// A clip that is part of the softmax' layer is no part of a row command: then both stay.
TEST(Logarithms, StayApartFromASoftmaxThatIsClipped) {
  ModelBuilder b(17);
  b.input("z", kScores);
  b.node("Constant", {}, {"zero"}, {{"value_float", "", 0.0}});
  b.node("Constant", {}, {"some"}, {{"value_float", "", 0.1}});
  b.node("Softmax", {"z"}, {"p"}).node("Clip", {"p", "zero", "some"}, {"c"}).output("c");
  b.node("ReduceLogSumExp", {"z"}, {"l"}, {ModelBuilder::ints("axes", {3})}).output("l");
  const LaidOut n(b);
  EXPECT_FALSE(n.layer("l").work.empty());
  EXPECT_EQ(rows_of(n.layer("p")), nullptr);
}

/// Rows that lie in another order are put into that of their dims.
TEST(Logarithms, AreOfRowsInTheOrderOfTheirDims) {
  ModelBuilder b(17);
  b.input("s", {2, 5, 3, 16}).node("Exp", {"s"}, {"e"});
  b.node("Transpose", {"e"}, {"t"}, {ModelBuilder::ints("perm", {0, 2, 1, 3})});
  b.node("Softmax", {"t"}, {"p"}).output("p");
  b.node("ReduceLogSumExp", {"t"}, {"l"}, {ModelBuilder::ints("axes", {-1})}).output("l");
  const LaidOut n(b);
  const RowWork* rows = rows_of(n.layer("p"));
  ASSERT_TRUE(rows && rows->log);
}

/// Two softmax commands give one logarithm each.
TEST(Logarithms, AreOfOneSoftmaxEach) {
  ModelBuilder b = softmax_and_sum();
  b.node("ReduceLogSumExp", {"z"}, {"l2"}, {ModelBuilder::ints("axes", {-1})}).output("l2");
  const LaidOut n(b.output("l"));
  EXPECT_TRUE(n.layer("l").work.empty());
  EXPECT_FALSE(n.layer("l2").work.empty());
  EXPECT_EQ(n.layer("p").outputs.size(), 2U);
}

}  // namespace
}  // namespace accsim::sim
