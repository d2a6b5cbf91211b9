#include <gtest/gtest.h>

#include "tests/sim/operators/single_node.h"

namespace accsim::sim {
namespace {

TEST(Shape, IsItKnownOfAnActivation) {
  SingleNode node("Shape", 15);
  node.in({2, 3, 4}).attr("start", 1);
  ASSERT_TRUE(node.infer());
  ASSERT_NE(node.value(), nullptr);  // from the shape rule: the input has no value
  EXPECT_EQ(node.value()->integers(), (std::vector<int64_t>{3, 4}));
}

TEST(Reshape, IsAnUnknownShapeAnErrorThatNamesTheInput) {
  SingleNode node("Reshape", 13);
  node.in({2, 3}).in({2}, DType::int64);
  EXPECT_EQ(shape_or_error(node),
            "Reshape: the output shape depends on the value of input 'shape' (tensor 't1'), which "
            "isn't constant; give --value t1=N,N... (int64 2)");
}

TEST(Reshape, AreImpossibleShapesRefused) {
  const auto reshaped = [](std::vector<int64_t> wanted, int64_t allowzero = 0) {
    SingleNode node("Reshape", 14);
    node.in({2, 3, 4}).ints(std::move(wanted)).attr("allowzero", allowzero);
    return shape_or_error(node);
  };
  EXPECT_EQ(reshaped({0, -1}), "2x12");
  EXPECT_EQ(reshaped({5, -1}), "Reshape: 24 elements of shape 2x3x4 don't fit shape 5x-1");
  EXPECT_EQ(reshaped({5, 5}), "Reshape: 24 elements of shape 2x3x4 don't fit shape 5x5");
  EXPECT_EQ(reshaped({-1, -1}), "Reshape: shape has more than one -1");
  EXPECT_EQ(reshaped({-2, 12}), "Reshape: shape has a dim of -2");
  EXPECT_EQ(reshaped({1, 1, 1, 0}), "Reshape: shape copies dim 3 of an input of rank 3");
  EXPECT_EQ(reshaped({0, -1}, 1), "Reshape: 24 elements of shape 2x3x4 don't fit shape 0x-1");
  EXPECT_EQ(reshaped({int64_t{1} << 40, int64_t{1} << 40}), "Reshape: shape has too many elements");
}

TEST(Squeeze, IsAnAxisOfSeveralElementsRefused) {
  SingleNode node("Squeeze", 13);
  node.in({1, 3}).ints({1});
  EXPECT_EQ(shape_or_error(node), "Squeeze: axis 1 has 3 elements, so it can't be removed");
}

TEST(Unsqueeze, DoAxesCountInTheOutput) {
  SingleNode good("Unsqueeze", 13), bad("Unsqueeze", 13), none("Unsqueeze", 11);
  good.in({5}).ints({-1, 0});
  EXPECT_EQ(shape_or_error(good), "1x5x1");
  bad.in({5}).ints({3});
  EXPECT_EQ(shape_or_error(bad), "Unsqueeze: axis 3 is outside [-2, 2) of a tensor of rank 2");
  none.in({5});
  EXPECT_EQ(shape_or_error(none), "Unsqueeze: axes are missing");
}

TEST(Constant, IsALargeOneWithoutElementsStillAShape) {
  auto stored = std::make_shared<StoredTensor>();
  stored->dtype = DType::float16;
  stored->dims = {1000, 1000};
  SingleNode node("Constant", 13);
  node.attr("value", std::shared_ptr<const StoredTensor>(stored));
  EXPECT_EQ(shape_or_error(node), "1000x1000");
  EXPECT_EQ(node.type(), DType::float16);
  ASSERT_TRUE(node.fold());
  EXPECT_EQ(node.value(), nullptr);
}

TEST(Constant, IsASparseValueOneLikeOthers) {
  auto stored = std::make_shared<StoredTensor>();
  stored->dtype = DType::int64;
  stored->dims = {3};
  stored->sparse = true;
  stored->value = std::make_shared<const ConstData>(std::vector<int64_t>{0, 7, 0});
  SingleNode node("Constant", 13);
  node.attr("sparse_value", std::shared_ptr<const StoredTensor>(stored));
  EXPECT_EQ(shape_or_error(node), "3");
  ASSERT_TRUE(node.fold());
  EXPECT_EQ(node.value()->integers(), (std::vector<int64_t>{0, 7, 0}));
}

TEST(Constant, AreMissingValuesRefused) {
  SingleNode none("Constant", 13), number("Constant", 13);
  EXPECT_EQ(shape_or_error(none), "Constant: it has no value attribute");
  number.attr("sparse_value", 1);
  EXPECT_EQ(shape_or_error(number), "Constant: it has no value attribute");
}

TEST(Range, AreEndlessOnesRefused) {
  const auto range = [](int64_t start, int64_t limit, int64_t delta) {
    SingleNode node("Range", 11);
    node.scalar(start).scalar(limit).scalar(delta);
    return shape_or_error(node);
  };
  EXPECT_EQ(range(0, 10, 3), "4");
  EXPECT_EQ(range(0, 10, 0), "Range: delta is 0");
  EXPECT_EQ(range(INT64_MIN, INT64_MAX, 1), "Range: the range is too long");
  EXPECT_EQ(range(0, INT64_MIN, -1), "Range: the range is too long");
  EXPECT_EQ(range(0, INT64_MIN, INT64_MIN), "1");
}

TEST(ConstantOfShape, IsItWrittenOnlyWhenItMustBe) {
  SingleNode node("ConstantOfShape", 9);
  node.ints({300, 400});
  ASSERT_TRUE(node.infer());
  const auto op = item<MemoryOp>(node.cost());
  EXPECT_TRUE(op.inputs.empty());
  EXPECT_EQ(op.outputs.at(0).elements, 300 * 400);
}

}  // namespace
}  // namespace accsim::sim
