#include <gtest/gtest.h>

#include "tests/sim/operators/single_node.h"

namespace accsim::sim {
namespace {

TEST(Quantize, WhatDecidesTheOutputType) {
  SingleNode plain("QuantizeLinear", 13);
  plain.in({2, 3}).in({});
  ASSERT_EQ(shape_or_error(plain), "2x3");
  EXPECT_EQ(plain.type(), DType::uint8);
  EXPECT_EQ(item<VectorOp>(plain.cost())[VectorClass::convert], 6);
  SingleNode zero("QuantizeLinear", 21);
  zero.in({2, 3}).in({}).in({}, DType::int4);
  ASSERT_TRUE(zero.infer().ok());
  EXPECT_EQ(zero.type(), DType::int4);
  SingleNode stated("QuantizeLinear", 21);
  stated.in({2, 3}).in({}).attr("output_dtype", static_cast<int64_t>(DType::int16));
  ASSERT_TRUE(stated.infer().ok());
  EXPECT_EQ(stated.type(), DType::int16);
  SingleNode back("DequantizeLinear", 19);
  back.in({2, 3}, DType::int8).in({}, DType::float16);
  ASSERT_TRUE(back.infer().ok());
  EXPECT_EQ(back.type(), DType::float16);
  SingleNode none("QuantizeLinear", 21);
  none.in({2, 3}).in({}).attr("output_dtype", 999);
  EXPECT_FALSE(none.infer().ok());
}

/// scale (x - zero point), as a float has it.
TEST(Quantize, AreConstantsBehindItKnown) {
  SingleNode node("DequantizeLinear", 19);
  node.ints({127, -128, 0}, DType::int8).reals({0.1}).ints({-3}, DType::int8);
  ASSERT_TRUE(node.infer().ok() && node.fold().ok());
  ASSERT_NE(node.value(), nullptr);
  for (const size_t i : {size_t{0}, size_t{1}, size_t{2}}) {
    const double code = i == 0 ? 130 : i == 1 ? -125 : 3;
    EXPECT_EQ(node.value()->as_double(i), static_cast<double>(static_cast<float>(code * 0.1)));
  }
  SingleNode sums("DequantizeLinear", 19), each("DequantizeLinear", 19);
  sums.ints({127}, DType::int32).reals({0.1});
  each.ints({1, 2}, DType::int8).reals({0.1, 0.2}).attr("axis", 0);
  for (SingleNode* unknown : {&sums, &each}) {
    ASSERT_TRUE(unknown->infer().ok() && unknown->fold().ok());
    EXPECT_EQ(unknown->value(), nullptr);
  }
}

TEST(Quantize, DoesTheScaleFitTensorAxisOrBlocks) {
  const auto fits = [](Dims scale, int64_t axis, int64_t block) {
    SingleNode node("DequantizeLinear", 21);
    node.in({6, 10}, DType::int8).in(std::move(scale)).attr("axis", axis);
    node.attr("block_size", block);
    return node.infer().ok();
  };
  EXPECT_TRUE(fits({}, 1, 0));
  EXPECT_TRUE(fits({1}, 1, 0));
  EXPECT_TRUE(fits({10}, 1, 0));
  EXPECT_TRUE(fits({6}, -2, 0));
  EXPECT_TRUE(fits({6, 3}, 1, 4));
  EXPECT_TRUE(fits({2, 10}, 0, 3));
  EXPECT_FALSE(fits({6}, 1, 0));
  EXPECT_FALSE(fits({6, 2}, 1, 4));
  EXPECT_FALSE(fits({6}, 2, 0));
  EXPECT_FALSE(fits({6, 3}, 1, -4));
}

TEST(Quantize, DoesTheDynamicKindGiveScaleAndZeroPoint) {
  SingleNode node("DynamicQuantizeLinear", 11);
  node.in({4, 5}).outs(3);
  ASSERT_EQ(shape_or_error(node), "4x5");
  EXPECT_EQ(node.type(0), DType::uint8);
  EXPECT_EQ(node.out(1), Dims{});
  EXPECT_EQ(node.type(1), DType::float32);
  EXPECT_EQ(node.type(2), DType::uint8);
  EXPECT_EQ(item<VectorOp>(node.cost())[VectorClass::reduce], 40);
}

}  // namespace
}  // namespace accsim::sim
