#include <gtest/gtest.h>

#include "tests/sim/operators/single_node.h"

namespace accsim::sim {
namespace {

TEST(Dft, DoLengthAndSidesGiveTheBins) {
  SingleNode plain("DFT", 17);
  plain.in({2, 16, 1});
  ASSERT_EQ(shape_or_error(plain), "2x16x2");
  EXPECT_EQ(item<VectorOp>(plain.cost())[VectorClass::elementwise], 2 * 5 * 16 * 4);
  SingleNode half("DFT", 17);
  half.in({2, 16, 1}).attr("onesided", 1);
  ASSERT_EQ(shape_or_error(half), "2x9x2");
  EXPECT_EQ(item<VectorOp>(half.cost())[VectorClass::elementwise], 5 * 16 * 4);
  SingleNode padded("DFT", 20);
  padded.in({2, 5, 16, 1}).scalar(20).scalar(1);
  EXPECT_EQ(shape_or_error(padded), "2x20x16x2");
  SingleNode back("DFT", 20);
  back.in({2, 9, 2}).attr("onesided", 1).attr("inverse", 1);
  EXPECT_EQ(shape_or_error(back), "2x16x1");
}

TEST(Dft, AreMalformedTransformsErrors) {
  SingleNode last("DFT", 20);
  last.in({2, 16, 1}).absent().scalar(-1);
  EXPECT_FALSE(last.infer().ok());
  SingleNode wide("DFT", 20);
  wide.in({2, 16, 3});
  EXPECT_FALSE(wide.infer().ok());
  SingleNode complex("DFT", 20);
  complex.in({2, 16, 2}).attr("onesided", 1);
  EXPECT_FALSE(complex.infer().ok());
  SingleNode none("DFT", 20);
  none.in({2, 16, 1}).scalar(0);
  EXPECT_FALSE(none.infer().ok());
  SingleNode flat("DFT", 17);
  flat.in({1});
  EXPECT_FALSE(flat.infer().ok());
}

TEST(Stft, AreFramesWhollyInsideTheSignal) {
  for (int64_t length = 8; length <= 30; ++length)
    for (int64_t step : {1, 3, 8})
      for (int64_t onesided : {0, 1}) {
        int64_t frames = 0;
        for (int64_t at = 0; at + 8 <= length; at += step) ++frames;
        SingleNode node("STFT", 17);
        node.in({2, length, 1}).scalar(step).in({8}).absent().attr("onesided", onesided);
        ASSERT_EQ(shape_or_error(node), to_string({2, frames, onesided ? 5 : 8, 2}));
      }
  SingleNode shorter("STFT", 17);
  shorter.in({2, 7, 1}).scalar(2).in({8});
  EXPECT_FALSE(shorter.infer().ok());
  SingleNode still("STFT", 17);
  still.in({2, 16, 1}).scalar(0).in({8});
  EXPECT_FALSE(still.infer().ok());
}

TEST(Windows, IsTheSizeTheShape) {
  for (const char* op : {"HannWindow", "HammingWindow", "BlackmanWindow"}) {
    SingleNode node(op, 17);
    node.scalar(10).attr("output_datatype", static_cast<int64_t>(DType::float64));
    ASSERT_EQ(shape_or_error(node), "10");
    EXPECT_EQ(node.type(), DType::float64);
    EXPECT_TRUE(node.cost().ok());
    SingleNode negative(op, 17);
    negative.scalar(-1);
    EXPECT_FALSE(negative.infer().ok());
  }
  SingleNode mel("MelWeightMatrix", 17);
  mel.scalar(8).scalar(16).scalar(8192).in({}).in({});
  EXPECT_EQ(shape_or_error(mel), "9x8");
}

}  // namespace
}  // namespace accsim::sim
