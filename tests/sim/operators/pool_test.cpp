#include <gtest/gtest.h>

#include "tests/sim/operators/single_node.h"

namespace accsim::sim {
namespace {

/// Windows along one dim, found by walking: whole ones always; with ceil_mode also those that start
/// before the padding behind the input.
int64_t walk(int64_t in, int64_t before, int64_t after, int64_t extent, int64_t stride, bool ceil) {
  int64_t count = 0;
  for (int64_t at = -before; at < in + after; at += stride) {
    const bool whole = at + extent <= in + after;
    // A partial window follows only where the one before it left something uncovered.
    const bool uncovered = at - stride + extent < in + after;
    if (whole || (ceil && at < in && uncovered)) ++count;
  }
  return count;
}

TEST(Pool, DoWindowsFollowTheDefinitionInEveryCorner) {
  for (const char* op : {"MaxPool", "AveragePool", "LpPool"})
    for (int64_t in = 1; in <= 9; ++in)
      for (int64_t kernel = 1; kernel <= 4; ++kernel)
        for (int64_t stride = 1; stride <= 4; ++stride)
          for (int64_t before = 0; before < kernel; ++before)
            for (int64_t after = 0; after < kernel; ++after)
              for (int64_t dilation : {1, 2})
                for (int ceil : {0, 1}) {
                  const int64_t extent = (kernel - 1) * dilation + 1;
                  SingleNode node(op, 22);
                  node.in({2, 3, in}).list("kernel_shape", {kernel}).list("strides", {stride});
                  node.list("pads", {before, after}).list("dilations", {dilation});
                  node.attr("ceil_mode", ceil);
                  if (in + before + after < extent) {
                    EXPECT_FALSE(node.infer().ok());
                    continue;
                  }
                  const int64_t out = walk(in, before, after, extent, stride, ceil != 0);
                  ASSERT_EQ(shape_or_error(node), to_string({2, 3, out}))
                      << in << " " << kernel << " " << stride << " " << before << " " << after;
                  EXPECT_EQ(item<VectorOp>(node.cost())[VectorClass::pool], 6 * out * kernel);
                }
}

TEST(Pool, IsAWindowThatStartsInTheRightPaddingDropped) {
  // ceil((5 + 0 + 2 - 3) / 3) + 1 = 3, but the third window would start at 6 of 5.
  SingleNode node("MaxPool", 12);
  node.in({1, 1, 5}).list("kernel_shape", {3}).list("strides", {3}).list("pads", {0, 2});
  node.attr("ceil_mode", 1);
  EXPECT_EQ(shape_or_error(node), "1x1x2");
}

TEST(Pool, DoesMaxPoolNameItsIndices) {
  SingleNode node("MaxPool", 12);
  node.in({1, 2, 8, 8}, DType::uint8).list("kernel_shape", {2, 2}).list("strides", {2, 2}).outs(2);
  ASSERT_EQ(shape_or_error(node), "1x2x4x4");
  EXPECT_EQ(node.type(0), DType::uint8);
  EXPECT_EQ(node.type(1), DType::int64);
  EXPECT_EQ(node.out(1), (Dims{1, 2, 4, 4}));
}

TEST(Pool, AreIndicesMoreWorkBehindTheMaxima) {
  constexpr int64_t kTaps = 2 * 3, kOut = 2 * 4 * 4;
  const auto pool = [](size_t outputs) {
    SingleNode node("MaxPool", 12);
    node.in({1, 2, 8, 8}).list("kernel_shape", {2, 3}).list("strides", {2, 2});
    node.list("pads", {0, 0, 0, 1}).outs(outputs);
    EXPECT_EQ(shape_or_error(node), "1x2x4x4");
    return *node.cost();
  };
  const Work alone = pool(1), both = pool(2);
  ASSERT_EQ(alone.size(), 1U);
  ASSERT_EQ(both.size(), 2U);
  const auto &maxima = std::get<VectorOp>(both[0]), &indices = std::get<VectorOp>(both[1]);
  EXPECT_EQ(maxima.ops, std::get<VectorOp>(alone[0]).ops);
  ASSERT_EQ(maxima.outputs.size(), 1U);
  EXPECT_EQ(maxima.outputs[0].port, 0);
  EXPECT_EQ(indices.inputs.at(0).elements, 2 * 8 * 8);
  ASSERT_EQ(indices.outputs.size(), 1U);
  EXPECT_EQ(indices.outputs[0].port, 1);
  EXPECT_EQ(indices.outputs[0].elements, kOut);
  EXPECT_EQ(indices[VectorClass::pool], kTaps * kOut) << "comparisons with the maximum";
  EXPECT_EQ(indices[VectorClass::elementwise], kOut) << "a selection each";
}

TEST(Pool, AreMalformedPoolsErrors) {
  const auto pool = [](Dims x) {
    SingleNode node("AveragePool", 19);
    node.in(std::move(x));
    return node;
  };
  EXPECT_FALSE(pool({1, 3, 8, 8}).infer().ok());
  EXPECT_FALSE(pool({1, 3}).list("kernel_shape", {}).infer().ok());
  EXPECT_FALSE(pool({}).list("kernel_shape", {2}).infer().ok());
  EXPECT_FALSE(pool({1, 3, 8, 8}).list("kernel_shape", {2}).infer().ok());
  EXPECT_FALSE(pool({1, 3, 8, 8}).list("kernel_shape", {2, -1}).infer().ok());
  EXPECT_FALSE(pool({1, 3, 8, 8, 8, 8}).list("kernel_shape", {2, 2, 2, 2}).infer().ok());
}

TEST(GlobalPool, AreSpatialDimsOne) {
  for (const char* op : {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"}) {
    SingleNode node(op, 1);
    node.in({2, 3, 7, 5});
    ASSERT_EQ(shape_or_error(node), "2x3x1x1");
    EXPECT_EQ(item<VectorOp>(node.cost())[VectorClass::pool], 2 * 3 * 7 * 5);
  }
  SingleNode flat("GlobalMaxPool", 1);
  flat.in({3});
  EXPECT_FALSE(flat.infer().ok());
}

TEST(MaxUnpool, IsTheExtentThatOfThePoolOrTheStatedOne) {
  SingleNode node("MaxUnpool", 11);
  node.in({1, 2, 3, 3}).in({1, 2, 3, 3}, DType::int64);
  node.list("kernel_shape", {2, 2}).list("strides", {2, 2});
  EXPECT_EQ(shape_or_error(node), "1x2x6x6");
  SingleNode stated("MaxUnpool", 11);
  stated.in({1, 2, 3, 3}).in({1, 2, 3, 3}, DType::int64).ints({1, 2, 7, 7});
  stated.list("kernel_shape", {2, 2}).list("strides", {2, 2});
  EXPECT_EQ(shape_or_error(stated), "1x2x7x7");
}

TEST(Roi, DoRegionsBecomeTheBatch) {
  SingleNode align("RoiAlign", 16);
  align.in({1, 8, 20, 20}).in({5, 4}).in({5}, DType::int64);
  align.attr("output_height", 7).attr("output_width", 6).attr("sampling_ratio", 2);
  ASSERT_EQ(shape_or_error(align), "5x8x7x6");
  EXPECT_EQ(item<VectorOp>(align.cost())[VectorClass::resize], 5 * 8 * 42 * 4 * 4);
  SingleNode pool("MaxRoiPool", 1);
  pool.in({1, 8, 20, 20}).in({5, 5}).list("pooled_shape", {3, 2});
  ASSERT_EQ(shape_or_error(pool), "5x8x3x2");
  EXPECT_EQ(item<VectorOp>(pool.cost())[VectorClass::pool], 5 * 8 * 400);
  SingleNode wrong("MaxRoiPool", 1);
  wrong.in({1, 8, 20, 20}).in({5, 4}).list("pooled_shape", {3, 2});
  EXPECT_FALSE(wrong.infer().ok());
}

}  // namespace
}  // namespace accsim::sim
