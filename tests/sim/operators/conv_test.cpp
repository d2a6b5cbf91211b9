#include <gtest/gtest.h>

#include <random>

#include "tests/sim/operators/single_node.h"

namespace accsim::sim {
namespace {

int64_t product(const Dims& dims) {
  int64_t p = 1;
  for (int64_t d : dims) p *= d;
  return p;
}

/// Windows that lie wholly inside the padded input, found by walking it.
int64_t walk(int64_t in, int64_t before, int64_t after, int64_t kernel, int64_t dilation,
             int64_t stride) {
  int64_t count = 0;
  for (int64_t at = -before; at + (kernel - 1) * dilation < in + after; at += stride) ++count;
  return count;
}

TEST(Conv, DoShapesAndMacsOfRandomConvolutionsFollowTheDefinition) {
  std::mt19937 rng(1);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(rng);
  };
  for (int round = 0; round < 500; ++round) {
    const auto rank = static_cast<size_t>(pick(1, 3));
    const int64_t n = pick(1, 3), groups = pick(1, 4), per_in = pick(1, 5), per_out = pick(1, 5);
    Dims x{n, groups * per_in}, w{groups * per_out, per_in}, out{n, groups * per_out};
    std::vector<int64_t> strides, dilations, before, after;
    Dims kernel;
    for (size_t d = 0; d < rank; ++d) {
      kernel.push_back(pick(1, 4));
      strides.push_back(pick(1, 3));
      dilations.push_back(pick(1, 3));
      before.push_back(pick(0, 3));
      after.push_back(pick(0, 3));
      x.push_back((kernel[d] - 1) * dilations[d] + pick(1, 12));
      w.push_back(kernel[d]);
      out.push_back(walk(x.back(), before[d], after[d], kernel[d], dilations[d], strides[d]));
    }
    std::vector<int64_t> pads = before;
    pads.insert(pads.end(), after.begin(), after.end());
    SingleNode node("Conv", 11);
    node.in(x).in(w).in({groups * per_out}).attr("group", groups);
    node.list("strides", strides).list("dilations", dilations).list("pads", pads);
    ASSERT_EQ(shape_or_error(node), to_string(out));
    const auto work = node.cost();
    ASSERT_EQ(work->size(), 1U);
    const auto op = item<GemmOp>(work);
    EXPECT_EQ(op.macs(), product(out) * per_in * product(kernel));
    EXPECT_EQ(op.m(), product(out) / (groups * per_out));
    EXPECT_EQ(op.k(), per_in * product(kernel));
    EXPECT_EQ(op.n(), per_out);
    EXPECT_EQ(op.batch, groups);
    EXPECT_EQ(op.grouped, groups > 1);
    EXPECT_EQ(op.bias_port, 2);
    for (size_t d = 0; d < rank; ++d) {
      EXPECT_EQ(op.in[3 - rank + d], x[2 + d]);
      EXPECT_EQ(op.pad[3 - rank + d], before[d]);
      EXPECT_EQ(op.dilation[3 - rank + d], dilations[d]);
    }
    for (size_t d = 0; d < 3 - rank; ++d) EXPECT_EQ(op.in[d] * op.out[d] * op.kernel[d], 1);
  }
}

TEST(Conv, DoesSamePaddingKeepCeilOfInOverStride) {
  for (int64_t in = 1; in <= 12; ++in)
    for (int64_t kernel = 1; kernel <= 5; ++kernel)
      for (int64_t stride = 1; stride <= 3; ++stride) {
        const int64_t out = (in + stride - 1) / stride;
        const int64_t total = std::max<int64_t>(0, (out - 1) * stride + kernel - in);
        for (const char* mode : {"SAME_UPPER", "SAME_LOWER"}) {
          SingleNode node("Conv", 11);
          node.in({1, 1, in}).in({1, 1, kernel}).list("strides", {stride}).attr("auto_pad", mode);
          ASSERT_EQ(shape_or_error(node), to_string({1, 1, out}));
          const int64_t less = total / 2;
          EXPECT_EQ(item<GemmOp>(node.cost()).pad[2],
                    mode == std::string("SAME_UPPER") ? less : total - less);
        }
      }
}

TEST(Conv, DoesAutoPadOverruleStalePads) {
  SingleNode valid("Conv", 11);
  valid.in({1, 1, 5, 5}).in({1, 1, 3, 3}).attr("auto_pad", "VALID").list("pads", {1, 1, 1, 1});
  EXPECT_EQ(shape_or_error(valid), "1x1x3x3");
}

TEST(Conv, AreQuantisedVariantsLikeTheFloatOneWithOtherPorts) {
  SingleNode integer("ConvInteger", 10);
  integer.in({2, 3, 8, 8}, DType::uint8).in({4, 3, 3, 3}, DType::int8);
  EXPECT_EQ(shape_or_error(integer), "2x4x6x6");
  EXPECT_EQ(integer.type(), DType::int32);
  EXPECT_EQ(total_macs(integer.cost()), 2 * 4 * 36 * 3 * 9);

  SingleNode linear("QLinearConv", 10);
  linear.in({2, 3, 8, 8}, DType::uint8).in({}).in({}, DType::uint8);
  linear.in({4, 3, 3, 3}, DType::int8).in({4}).in({4}, DType::int8);
  linear.in({}).in({}, DType::int8).in({4}, DType::int32);
  EXPECT_EQ(shape_or_error(linear), "2x4x6x6");
  EXPECT_EQ(linear.type(), DType::int8);
  const auto op = item<GemmOp>(linear.cost());
  EXPECT_EQ(op.b_port, 3);
  EXPECT_EQ(op.bias_port, 8);
}

TEST(Conv, AreMalformedConvolutionsErrors) {
  const auto error = [](SingleNode node) { return !node.infer().ok(); };
  const auto conv = [](Dims x, Dims w) {
    SingleNode node("Conv", 11);
    node.in(std::move(x)).in(std::move(w));
    return node;
  };
  EXPECT_TRUE(error(conv({1, 3}, {4, 3})));
  EXPECT_TRUE(error(conv({}, {})));
  EXPECT_TRUE(error(conv({1, 3, 8, 8}, {4, 2, 3, 3})));
  EXPECT_TRUE(error(conv({1, 3, 8, 8}, {4, 3, 3})));
  EXPECT_TRUE(error(conv({1, 3, 2, 2}, {4, 3, 3, 3})));
  EXPECT_TRUE(error(conv({1, 3, 8, 8}, {4, 3, 0, 3})));
  EXPECT_TRUE(error(conv({1, 3, 8, 8}, {4, 3, 3, 3}).list("strides", {0, 1})));
  EXPECT_TRUE(error(conv({1, 3, 8, 8}, {4, 3, 3, 3}).list("strides", {1})));
  EXPECT_TRUE(error(conv({1, 3, 8, 8}, {4, 3, 3, 3}).list("dilations", {1, int64_t{1} << 62})));
  EXPECT_TRUE(error(conv({1, 3, 8, 8}, {4, 3, 3, 3}).list("pads", {0, 0, -1, 0})));
  EXPECT_TRUE(error(conv({1, 3, 8, 8}, {4, 3, 3, 3}).list("kernel_shape", {3, 2})));
  EXPECT_TRUE(error(conv({1, 3, 8, 8}, {4, 3, 3, 3}).attr("auto_pad", "SAME")));
  EXPECT_TRUE(error(conv({1, 3, 8, 8}, {4, 3, 3, 3}).attr("group", 0)));
  EXPECT_TRUE(error(conv({1, 3, 8, 8}, {4, 3, 3, 3}).in({3})));
  SingleNode four = conv({1, 1, 4, 4, 4, 4}, {1, 1, 2, 2, 2, 2});
  const Status s = four.infer();
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.errors().front().code, Errc::unsupported);
  EXPECT_NE(s.errors().front().text().find("at most 3"), std::string::npos);
}

TEST(ConvTranspose, DoesItInvertTheExtentOfAConvolution) {
  std::mt19937 rng(2);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(rng);
  };
  for (int round = 0; round < 300; ++round) {
    const int64_t in = pick(1, 9), kernel = pick(1, 4), stride = pick(1, 3), groups = pick(1, 3);
    const int64_t dilation = pick(1, 2), extra = pick(0, stride - 1);
    const int64_t extent = (kernel - 1) * dilation + 1;
    const int64_t pad = std::min<int64_t>(pick(0, 2), (extent - 1) / 2);
    SingleNode node("ConvTranspose", 11);
    node.in({2, 2 * groups, in}).in({2 * groups, 5, kernel}).attr("group", groups);
    node.list("strides", {stride}).list("dilations", {dilation}).list("pads", {pad, pad});
    node.list("output_padding", {extra});
    // Place every input pixel's patch and see how far the last one reaches.
    const int64_t reach = (in - 1) * stride + extent;
    ASSERT_EQ(shape_or_error(node), to_string({2, 5 * groups, reach + extra - 2 * pad}));
    const auto work = node.cost();
    const auto gemm = item<GemmOp>(work);
    EXPECT_EQ(gemm.m(), 2 * in);
    EXPECT_EQ(gemm.k(), 2);
    EXPECT_EQ(gemm.n(), 5 * kernel);
    EXPECT_EQ(gemm.batch, groups);
    EXPECT_EQ(item<VectorOp>(work, 1)[VectorClass::reduce], groups * 2 * in * 5 * kernel);
  }
}

TEST(ConvTranspose, DoesAStatedOutputShapeOrSamePaddingDecide) {
  SingleNode stated("ConvTranspose", 11);
  stated.in({1, 1, 3, 3}).in({1, 2, 3, 3}).list("strides", {3, 2}).list("output_shape", {10, 8});
  EXPECT_EQ(shape_or_error(stated), "1x2x10x8");
  SingleNode same("ConvTranspose", 11);
  same.in({1, 1, 3, 3}).in({1, 2, 3, 3}).list("strides", {2, 2}).attr("auto_pad", "SAME_UPPER");
  EXPECT_EQ(shape_or_error(same), "1x2x6x6");
  SingleNode gone("ConvTranspose", 11);
  gone.in({1, 1, 1, 1}).in({1, 2, 3, 3}).list("pads", {2, 2, 2, 2});
  EXPECT_FALSE(gone.infer().ok());
}

TEST(DeformConv, IsItSamplingAndAPlainProduct) {
  SingleNode node("DeformConv", 19);
  node.in({1, 4, 5, 5}).in({6, 4, 2, 2}).in({1, 8, 4, 4}).absent().in({1, 4, 4, 4});
  ASSERT_EQ(shape_or_error(node), "1x6x4x4");
  const auto work = node.cost();
  EXPECT_EQ(item<VectorOp>(work)[VectorClass::resize], 4 * 4 * 16 * 4);  // C x taps x out x 2^2
  EXPECT_EQ(item<GemmOp>(work, 1).macs(), 6 * 16 * 4 * 4);
  SingleNode wrong("DeformConv", 19);
  wrong.in({1, 4, 5, 5}).in({6, 4, 2, 2}).in({1, 4, 4, 4});
  EXPECT_FALSE(wrong.infer().ok());
}

TEST(CausalConvWithState, DoesItKeepTheLengthAndTheLastPositions) {
  SingleNode node("CausalConvWithState", 27);
  node.in({2, 8, 10}).in({8, 1, 4}).in({8}).in({2, 8, 3}).outs(2).attr("activation", "silu");
  ASSERT_EQ(shape_or_error(node), "2x8x10");
  EXPECT_EQ(node.out(1), (Dims{2, 8, 3}));
  EXPECT_EQ(total_macs(node.cost()), 2 * 8 * 10 * 4);
}

}  // namespace
}  // namespace accsim::sim
