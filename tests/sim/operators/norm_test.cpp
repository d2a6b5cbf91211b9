#include <gtest/gtest.h>

#include "tests/sim/operators/single_node.h"

namespace accsim::sim {
namespace {

TEST(BatchNormalization, HasEachOpsetItsOutputs) {
  SingleNode inference("BatchNormalization", 15);
  inference.in({2, 3, 4, 4}).in({3}).in({3}).in({3}).in({3});
  ASSERT_EQ(shape_or_error(inference), "2x3x4x4");
  const auto op = item<VectorOp>(inference.cost());
  EXPECT_EQ(op[VectorClass::elementwise], 2 * 96);
  EXPECT_EQ(op[VectorClass::reduce], 0);
  EXPECT_EQ(op.row, 1);
  EXPECT_EQ(op.passes, 1);
  EXPECT_EQ(op.inputs.size(), 5U);

  SingleNode training("BatchNormalization", 15);
  training.in({2, 3, 4, 4}).in({3}).in({3}).in({3}).in({3}).outs(3).attr("training_mode", 1);
  ASSERT_EQ(shape_or_error(training), "2x3x4x4");
  EXPECT_EQ(training.out(2), Dims{3});
  EXPECT_EQ(item<VectorOp>(training.cost()).row, 32);

  SingleNode old("BatchNormalization", 9);
  old.in({2, 3, 4, 4}).in({3}).in({3}).in({3}).in({3}).outs(5);
  ASSERT_EQ(shape_or_error(old), "2x3x4x4");
  EXPECT_EQ(old.out(4), Dims{3});

  SingleNode modern("BatchNormalization", 15);
  modern.in({2, 3, 4, 4}).in({3}).in({3}).in({3}).in({3}).outs(3);
  EXPECT_FALSE(modern.infer().ok());
  SingleNode wrong("BatchNormalization", 15);
  wrong.in({2, 3, 4, 4}).in({3}).in({4}).in({3}).in({3});
  EXPECT_FALSE(wrong.infer().ok());
}

TEST(LayerNormalization, DoMeanAndDeviationLoseTheNormalisedDims) {
  for (int64_t axis : {-1, -2, 1, 2}) {
    SingleNode node("LayerNormalization", 17);
    node.in({2, 3, 4}, DType::float16).in({4}, DType::float16).outs(3).attr("axis", axis);
    ASSERT_EQ(shape_or_error(node), "2x3x4");
    const auto from = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
    EXPECT_EQ(node.out(1), (from == 2 ? Dims{2, 3, 1} : Dims{2, 1, 1}));
    EXPECT_EQ(node.out(2), node.out(1));
    EXPECT_EQ(node.type(0), DType::float16);
    EXPECT_EQ(node.type(1), DType::float32);
    const auto op = item<VectorOp>(node.cost());
    const int64_t row = from == 2 ? 4 : 12;
    EXPECT_EQ(op.row, row);
    EXPECT_EQ(op[VectorClass::reduce], 48);
    EXPECT_EQ(op[VectorClass::elementwise], 48);
    EXPECT_EQ(op[VectorClass::special], 24 / row);
    EXPECT_EQ(op.passes, 3);
  }
  SingleNode axis("LayerNormalization", 17);
  axis.in({2, 3}).in({3}).attr("axis", 2);
  EXPECT_FALSE(axis.infer().ok());
  SingleNode scalar("LayerNormalization", 17);
  scalar.in({}).in({});
  EXPECT_FALSE(scalar.infer().ok());
  SingleNode scale("LayerNormalization", 17);
  scale.in({2, 3}).in({4});
  EXPECT_FALSE(scale.infer().ok());
}

TEST(GroupNormalization, DidOpset21MakeTheScalePerChannel) {
  const auto fits = [](int64_t opset, int64_t scale) {
    SingleNode node("GroupNormalization", opset);
    node.in({2, 6, 5}).in({scale}).in({scale}).attr("num_groups", 2);
    return node.infer().ok();
  };
  EXPECT_TRUE(fits(18, 2));
  EXPECT_FALSE(fits(18, 6));
  EXPECT_TRUE(fits(21, 6));
  EXPECT_FALSE(fits(21, 2));
  SingleNode node("GroupNormalization", 21);
  node.in({2, 6, 5}).in({6}).in({6}).attr("num_groups", 2);
  ASSERT_TRUE(node.infer().ok());
  EXPECT_EQ(item<VectorOp>(node.cost()).row, 3 * 5);
  EXPECT_EQ(item<VectorOp>(node.cost())[VectorClass::special], 4);
}

TEST(Norms, DoRowsMatchTheNormalisedDims) {
  SingleNode instance("InstanceNormalization", 6);
  instance.in({2, 3, 4, 5}).in({3}).in({3});
  ASSERT_TRUE(instance.infer().ok());
  EXPECT_EQ(item<VectorOp>(instance.cost()).row, 20);
  SingleNode rms("RMSNormalization", 23);
  rms.in({2, 3, 8}).in({8});
  ASSERT_TRUE(rms.infer().ok());
  EXPECT_EQ(item<VectorOp>(rms.cost()).row, 8);
  EXPECT_EQ(item<VectorOp>(rms.cost())[VectorClass::reduce], 48);
  SingleNode variance("MeanVarianceNormalization", 13);
  variance.in({2, 3, 4, 5});
  ASSERT_TRUE(variance.infer().ok());
  EXPECT_EQ(item<VectorOp>(variance.cost()).row, 2 * 4 * 5);
  SingleNode flat("MeanVarianceNormalization", 13);
  flat.in({2, 3});
  EXPECT_FALSE(flat.infer().ok());
  SingleNode local("LRN", 13);
  local.in({2, 3, 4, 5}).attr("size", 5);
  ASSERT_TRUE(local.infer().ok());
  EXPECT_EQ(item<VectorOp>(local.cost())[VectorClass::elementwise], 120 * 5);
  SingleNode sizeless("LRN", 13);
  sizeless.in({2, 3, 4, 5});
  EXPECT_FALSE(sizeless.infer().ok());
}

/// Axes of which the elements are of one row.
std::vector<size_t> reduced(const RowMeaning& rows) {
  std::vector<size_t> out;
  for (size_t i = 0; i < rows.axes.size(); ++i)
    if (rows.axes[i].reduced) out.push_back(i);
  return out;
}

TEST(Norms, AreRowsOfLengthOneAlongAnAxis) {
  for (const int64_t axis : {0, 1, 2, -1}) {
    SingleNode node("LpNormalization", 1);
    node.in({4, 6, 5}).attr("axis", axis);
    ASSERT_TRUE(node.infer());
    const auto rows = node.rows();
    ASSERT_TRUE(rows);
    EXPECT_EQ(rows->kind, RowKind::rms_norm);
    EXPECT_TRUE(rows->unit_length);
    const auto first = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
    EXPECT_EQ(reduced(*rows), std::vector<size_t>{first});
    EXPECT_EQ(rows->channel_axes, first == 1 ? 1 : 0);
  }
  SingleNode sums("LpNormalization", 1);
  sums.in({4, 6}).attr("p", 1);
  ASSERT_TRUE(sums.infer());
  EXPECT_FALSE(sums.rows()) << "sums of absolute values aren't what the commands take";
}

TEST(Norms, AreMeanAndVarianceThoseOfAnyAxes) {
  SingleNode images("MeanVarianceNormalization", 13), some("MeanVarianceNormalization", 13);
  images.in({2, 3, 4, 5});
  ASSERT_TRUE(images.infer());
  const auto rows = images.rows();
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->kind, RowKind::layer_norm);
  EXPECT_FALSE(rows->unit_length);
  EXPECT_EQ(reduced(*rows), (std::vector<size_t>{0, 2, 3}));
  some.in({4, 6}).list("axes", {-1});
  ASSERT_TRUE(some.infer());
  EXPECT_EQ(reduced(some.rows().value()), std::vector<size_t>{1});
}

TEST(RotaryEmbedding, IsOnlyTheRotatedPartWork) {
  SingleNode whole("RotaryEmbedding", 23);
  whole.in({2, 4, 6, 8}).in({50, 4}).in({50, 4}).in({2, 6}, DType::int64);
  ASSERT_EQ(shape_or_error(whole), "2x4x6x8");
  EXPECT_EQ(item<VectorOp>(whole.cost())[VectorClass::elementwise], 3 * 2 * 4 * 6 * 8);
  SingleNode part("RotaryEmbedding", 23);
  part.in({2, 6, 32}).in({2, 6, 2}).in({2, 6, 2}).attr("num_heads", 4);
  part.attr("rotary_embedding_dim", 4);
  ASSERT_EQ(shape_or_error(part), "2x6x32");
  EXPECT_EQ(item<VectorOp>(part.cost())[VectorClass::elementwise], 3 * 2 * 4 * 6 * 4);
  SingleNode headless("RotaryEmbedding", 23);
  headless.in({2, 6, 32}).in({2, 6, 2}).in({2, 6, 2});
  EXPECT_FALSE(headless.infer().ok());
}

TEST(Losses, DoesTheReductionDecideTheShape) {
  for (const char* op : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"})
    for (const char* reduction : {"none", "sum", "mean"}) {
      SingleNode node(op, 13);
      node.in({2, 5, 3}).in({2, 3}, DType::int64).in({5}).attr("reduction", reduction);
      EXPECT_EQ(shape_or_error(node), reduction == std::string("none") ? "2x3" : "scalar");
      EXPECT_TRUE(node.cost().ok());
    }
  SingleNode both("SoftmaxCrossEntropyLoss", 13);
  both.in({2, 5, 3}).in({2, 3}, DType::int64).outs(2);
  ASSERT_TRUE(both.infer().ok());
  EXPECT_EQ(both.out(1), (Dims{2, 5, 3}));
  SingleNode labels("SoftmaxCrossEntropyLoss", 13);
  labels.in({2, 5, 3}).in({2, 4}, DType::int64);
  EXPECT_FALSE(labels.infer().ok());
}

}  // namespace
}  // namespace accsim::sim
