#include <gtest/gtest.h>

#include "tests/sim/operators/single_node.h"

namespace accsim::sim {
namespace {

VectorOp cost_of(SingleNode& node) {
  const Status s = node.infer();
  EXPECT_TRUE(s) << (s ? "" : s.errors()[0].text());
  return s ? item<VectorOp>(node.cost()) : VectorOp{};
}

TEST(Softmax, IsItsRowTheAxisAndItsWorkFivePerElement) {
  SingleNode node("Softmax", 13);
  node.in({2, 12, 64, 128}).attr("axis", -1);
  const VectorOp op = cost_of(node);
  const int64_t count = 2 * 12 * 64 * 128, rows = count / 128;
  EXPECT_EQ(op[VectorClass::reduce], 2 * count);       // largest, sum
  EXPECT_EQ(op[VectorClass::elementwise], 2 * count);  // subtract, scale
  EXPECT_EQ(op[VectorClass::special], count + rows);   // exp, reciprocal
  EXPECT_EQ(op.row, 128);
  EXPECT_EQ(op.passes, 3);
}

TEST(Softmax, WasEverythingFromTheAxisOnOneRowBeforeOpset13) {
  SingleNode old("Softmax", 11), now("Softmax", 13);
  old.in({2, 3, 4}).attr("axis", 1);
  EXPECT_EQ(cost_of(old).row, 3 * 4);
  now.in({2, 3, 4}).attr("axis", 1);
  EXPECT_EQ(cost_of(now).row, 3);
  SingleNode old_default("Softmax", 11), now_default("Softmax", 13);
  old_default.in({2, 3, 4});
  EXPECT_EQ(cost_of(old_default).row, 3 * 4);
  now_default.in({2, 3, 4});
  EXPECT_EQ(cost_of(now_default).row, 4);
}

TEST(Reduce, IsEachInputElementGatheredOnce) {
  SingleNode node("ReduceMean", 18);
  node.in({2, 7, 7, 64}).ints({1, 2});
  const VectorOp op = cost_of(node);
  EXPECT_EQ(node.out(), (Dims{2, 1, 1, 64}));
  EXPECT_EQ(op[VectorClass::reduce], 2 * 49 * 64);
  EXPECT_EQ(op[VectorClass::elementwise], 2 * 64);  // the scale
  EXPECT_EQ(op[VectorClass::special], 0);
  EXPECT_EQ(op.row, 49);
  EXPECT_EQ(op.passes, 1);
  ASSERT_EQ(op.inputs.size(), 1U);  // not the axes
}

TEST(Reduce, AreRootsAndLogarithmsPerResult) {
  SingleNode l2("ReduceL2", 18), log("ReduceLogSumExp", 18);
  l2.in({5, 8}).ints({1});
  EXPECT_EQ(cost_of(l2)[VectorClass::special], 5);
  EXPECT_EQ(cost_of(l2)[VectorClass::elementwise], 40);
  log.in({5, 8}).ints({1});
  EXPECT_EQ(cost_of(log)[VectorClass::special], 40 + 5);
  EXPECT_EQ(cost_of(log)[VectorClass::reduce], 80);
  EXPECT_EQ(cost_of(log).passes, 2);
}

TEST(Reduce, DoAxesComeFromAttributeOrInput) {
  for (const int64_t opset : {11, 18}) {
    SingleNode node("ReduceSum", opset);
    node.in({2, 3, 4}).attr("keepdims", 0);
    if (opset < 13)
      node.list("axes", {0, -1});
    else
      node.ints({0, -1});
    EXPECT_EQ(shape_or_error(node), "3");
  }
}

TEST(Reduce, IsNoAxisAllAxesUnlessSaidOtherwise) {
  SingleNode all("ReduceSum", 13), none("ReduceSum", 13), unknown("ReduceSum", 13);
  all.in({2, 3}).ints({});
  EXPECT_EQ(shape_or_error(all), "1x1");
  none.in({2, 3}).ints({}).attr("noop_with_empty_axes", 1);
  EXPECT_EQ(shape_or_error(none), "2x3");
  unknown.in({2, 3}).in({1}, DType::int64);
  EXPECT_FALSE(unknown.infer());
}

TEST(ArgMax, IsTheResultInt64) {
  SingleNode node("ArgMax", 13);
  node.in({4, 10}, DType::float16).attr("axis", 1).attr("keepdims", 0);
  const VectorOp op = cost_of(node);
  EXPECT_EQ(node.type(), DType::int64);
  EXPECT_EQ(node.out(), Dims{4});
  EXPECT_EQ(op[VectorClass::search], 40);
  EXPECT_EQ(op.row, 10);
}

TEST(TopK, IsMoreThanThereIsRefused) {
  SingleNode good("TopK", 11), bad("TopK", 11);
  good.in({4, 10}).ints({3}).outs(2);
  const VectorOp op = cost_of(good);
  EXPECT_EQ(good.out(0), (Dims{4, 3}));
  EXPECT_EQ(good.type(1), DType::int64);
  EXPECT_EQ(op[VectorClass::search], 40 * 2);  // a heap of 3 is 2 levels deep
  EXPECT_EQ(op.outputs.size(), 2U);
  bad.in({4, 10}).ints({11}).outs(2);
  EXPECT_EQ(shape_or_error(bad), "TopK: K is 11 for an axis of 10");
}

TEST(CumSum, DoesAnUnknownAxisNotMatterToTheShape) {
  SingleNode node("CumSum", 14), bad("CumSum", 14);
  node.in({2, 5}).in({}, DType::int64);
  EXPECT_EQ(cost_of(node)[VectorClass::search], 10);
  EXPECT_EQ(node.out(), (Dims{2, 5}));
  bad.in({2, 5}).scalar(2);
  EXPECT_FALSE(bad.infer());
}

TEST(Det, IsItAnLuDecomposition) {
  SingleNode node("Det", 22);
  node.in({3, 4, 4});
  const VectorOp op = cost_of(node);
  int64_t updates = 0, divisions = 0;
  for (int64_t left = 3; left > 0; --left) {
    divisions += left;
    updates += left * left;  // of what is left of the matrix
  }
  EXPECT_EQ(node.out(), Dims{3});
  EXPECT_EQ(op[VectorClass::elementwise], 3 * updates);
  EXPECT_EQ(op[VectorClass::special], 3 * divisions);
}

}  // namespace
}  // namespace accsim::sim
